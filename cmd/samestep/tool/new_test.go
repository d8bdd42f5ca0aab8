//go:build !js

package tool

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A program that was built from a checkout finds it only if it runs there. Elsewhere it needs --replace, and the help says so.
func TestNewOutsideOfTheCheckout(t *testing.T) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	const want = "this folder is not in it: want --replace with its folder"
	if code := tooltest.Run(t.Context(), []string{"samestep", "new", "hold"}, &out, &out); code != console.ExitUsage || !strings.Contains(out.String(), want) {
		t.Errorf("got exit code %d and %q, want %d and %q", code, &out, console.ExitUsage, want)
	}
	if _, err := os.Stat("hold"); err == nil {
		t.Error("there is a folder of the game")
	}
	out.Reset()
	if code := tooltest.Run(t.Context(), []string{"samestep", "new", "--help"}, &out, &out); code != console.ExitOK || !strings.Contains(out.String(), "found by itself if you are in it") {
		t.Errorf("got exit code %d and %q", code, &out)
	}
}
