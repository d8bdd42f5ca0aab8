//go:build !js

package tool

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
)

// tolls are what New of [tollGame] leaves outside of the state.
var tolls []uint32

// tollGame reads a table that only New fills, for all matches of the process, if the environment says so. TOLLS=die ends each process
// that computes a tick without New.
func tollGame() []Game {
	rules := minimal.Rules()
	rules.Name = "toll"
	begin, step, how := rules.New, rules.Step, os.Getenv("TOLLS")
	rules.New = func(w *minimal.World, s *lockstep.Settings, c *minimal.Config) error {
		tolls = []uint32{0, 0, 1}
		return begin(w, s, c)
	}
	rules.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
		step(w, c, turn)
		switch {
		case how == "read" && len(tolls) > 0:
			w.Dots[0].Coins += tolls[int(turn.Tick)%len(tolls)]
		case how == "die" && len(os.Args) == 2 && os.Args[1] == gameset.ApartVerb:
			fmt.Fprintln(os.Stderr, "no tolls")
			os.Exit(9)
		case how == "end" && os.Args[1] == "desync":
			fmt.Fprintln(os.Stderr, "no more")
			os.Exit(9)
		case how == "home" && os.Getenv("HOME") == "elsewhere":
			w.Dots[0].Coins++
		}
	}
	return []Game{New(rules, Bot(minimal.NewBot), Config(func(int) minimal.Config { return minimal.Config{Size: 32, Coins: 8} }))}
}

func tollProcess(t *testing.T, dir, how string, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Args[0], c.Dir, c.Env = "toll", dir, append(os.Environ(), "TOLLS="+how) // TestMain goes by the name
	return c
}

// toll runs the game's program in a process of its own.
func toll(t *testing.T, dir, how string, code int, args ...string) string {
	t.Helper()
	c := tollProcess(t, dir, how, args...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		t.Errorf("TOLLS=%s %v: got %v, want exit code %d:\n%s", how, args, err, code, out)
	}
	return string(out)
}

// A table that only New fills is there in each process that has begun a match: triage, verify and the server compute the ticks in a process that
// has begun none, and say what explain says by hand. What they cannot compute there is not proven.
func TestTableOfAnotherMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo := toll(t, dir, "", console.ExitOK, "demo", "--dir", dir, "--seconds", "10")
	bundles, err := filepath.Glob(filepath.Join(dir, "*.zip"))
	if err != nil || len(bundles) != 1 || !strings.Contains(demo, "grade: proven; ") || !strings.Contains(demo, ", one in a process") {
		t.Fatalf("got bundles %v, %v:\n%s", bundles, err, demo)
	}
	bundle := bundles[0]
	b, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	two := t.TempDir()
	for _, name := range []string{"a.zip", "b.zip"} {
		if err := os.WriteFile(filepath.Join(two, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const unfixed = "a package variable that New or another match fills decides"
	for _, row := range []struct {
		how, args string
		want, not string
	}{
		{"", "desync triage --jobs 1 " + two, "2 × player", "no fixed result"}, // the control
		{"read", "desync triage --jobs 1 " + two, "2 × no fixed result", "× player"},
		{"read", "desync explain " + bundle, unfixed, "grade: proven"},
		{"read", "replay verify " + filepath.Join(dir, "toll.ssr"), "verdict NO FIXED RESULT: nobody is accused", "wrong "}, // by luck, what New leaves is not there at first
		{"home", "desync explain " + bundle, unfixed, "grade: proven"},
		{"die", "desync explain " + bundle, "grade: consistent with; ", "grade: proven"},
		{"die", "desync explain " + bundle, "none in a process of its own: exit status 9: no tolls", "grade: proven"},
	} {
		out := toll(t, dir, row.how, console.ExitDesync, strings.Fields(row.args)...)
		if joined := strings.Join(strings.Fields(out), " "); !strings.Contains(joined, row.want) || strings.Contains(joined, row.not) {
			t.Errorf("TOLLS=%s %s: want %q and not %q in\n%s", row.how, row.args, row.want, row.not, out)
		}
	}
	page := filepath.Join(two, "a.html") // what a server does
	explain := func(how string) string {
		var log strings.Builder
		self := func(_ context.Context, args ...string) *exec.Cmd { return tollProcess(t, dir, how, args...) }
		desyncs.Explainer(flagless(nil), slog.New(slog.NewTextHandler(&log, nil)), self)(filepath.Join(two, "a.zip"))
		return log.String()
	}
	if log := explain("read"); !regexp.MustCompile(`msg=explained .*verdict="[^"]*Dots\[0\]\.Coins.* to=[1-9].* fingerprint=\w`).MatchString(log) {
		t.Errorf("got %s", log)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), unfixed) {
		t.Errorf("got a page of %d bytes, %v", len(b), err)
	}
	if log := explain("end"); !strings.Contains(log, "exit status 9: no more") {
		t.Errorf("got %s, want how it ended", log)
	}
}
