//go:build !js

package tool

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Control: an attack that succeeds is reported as a failure under its name. This server accepts the foreign host.
func TestAttackControl(t *testing.T) {
	t.Parallel()
	tokens, err := exec.CommandContext(t.Context(), "samestep", "attack", "--print-tokens").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, tokens, 0o600); err != nil {
		t.Fatal(err)
	}
	s := tooltest.Serve(t, "--dir", "", "--players", "16", "--config", `{"Units":100}`, "--tokens", file, "--set", "allowed-host=rebound.example")
	out, err := exec.CommandContext(t.Context(), "samestep", "attack", "--server", strings.Replace(s.URL, "http", "ws", 1), "--token-file", file, "--attack", "hosts", "--time", "1s").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != console.ExitError {
		t.Errorf("got %v, want exit code %d", err, console.ExitError)
	}
	for _, want := range []string{"FAILED: the attack succeeded: /matches", "got 101", "got 200", "did not withstand: hosts"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}
