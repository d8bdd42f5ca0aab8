//go:build unix && !js

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Drawn tokens go to a file that only the user can read, and not into an output that others may keep. They open their
// seats again after a restart.
func TestDrawnTokens(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "matches")
	start := func(flags ...string) *tooltest.Server {
		return tooltest.Serve(t, append([]string{"--players", "2", "--config", `{"Units":100}`, "--dir", dir, "--resume"}, flags...)...)
	}
	path := filepath.Join(dir, "tokens.txt")
	read := func() string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := start("--set", "print-tokens=false")
	if len(first.Tokens) > 0 {
		t.Errorf("it has printed the tokens of %d people", len(first.Tokens))
	}
	drawn := read()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
	if n := strings.Count(drawn, "\n"); n != 4 {
		t.Errorf("got %d tokens, want those of two players, a spectator and an admin:\n%s", n, drawn)
	}
	first.Stop()
	second := start("--matches", "2")
	if now := read(); !strings.HasPrefix(now, drawn) || strings.Count(now, "\n") != 6 {
		t.Errorf("after a restart with another match: got\n%s\nwant the tokens before and two more:\n%s", now, drawn)
	}
	second.Tokens["player-0"] = strings.Fields(drawn)[4] // of match-1
	if sum, code := second.Join(t, "player-0", "--time", "1s", "--retry", "1m"); code != console.ExitOK || sum.Seat != 0 {
		t.Errorf("a player with a token of the first start: %+v, exit code %d", sum, code)
	}
}
