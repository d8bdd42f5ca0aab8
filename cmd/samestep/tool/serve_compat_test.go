//go:build !js

package tool

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A server plays with clients of another engine, and its replay verifies.
func TestServeCompat(t *testing.T) {
	testenv.Long(t) // TestMatch of package compat plays without a process
	t.Parallel()
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	dir := t.TempDir()
	s := tooltest.Serve(t, "--game", "platforms", "--set", "compat=true", "--set", "player-tokens=a b", "--players", "2", "--dir", dir)
	address := strings.TrimPrefix(s.URL, "http://")
	for _, row := range []struct{ token, want string }{
		{"b", `"player": 7`}, {"a", `"player": 6`},
	} {
		out, err := exec.CommandContext(t.Context(), python, "-B", "../../../examples/platforms/compat/testdata/client.py", address, row.token, "140", "every=9").CombinedOutput()
		if text := string(out); err != nil || !strings.Contains(text, row.want) || !strings.Contains(text, `"errors": 0`) || !strings.Contains(text, `"reports": 0`) {
			t.Errorf("%v: %s, want %s", err, out, row.want)
		}
	}
	if out, err := exec.CommandContext(t.Context(), python, "-B", "../../../examples/platforms/compat/testdata/client.py", address, "c", "140").CombinedOutput(); err == nil {
		t.Errorf("an unknown token was let in: %s", out)
	}
	s.End(t, s.Tokens["admin"])
	s.Stop()
	if log := s.Stderr.String(); !strings.Contains(log, "every user of this machine can take a seat with a short token") {
		t.Errorf("no warning of short tokens: %s", log)
	}
	if s.Tokens["player-0"] != "" {
		t.Error("a token was drawn for a seat that has one")
	}
	replays, err := filepath.Glob(filepath.Join(dir, "*.ssr"))
	if err != nil || len(replays) != 1 {
		t.Fatalf("got replays %q, %v", replays, err)
	}
	var out, errs bytes.Buffer
	code := tooltest.Run(t.Context(), []string{"samestep", "replay", "verify", replays[0]}, &out, &errs)
	if text := out.String(); code != console.ExitOK || !strings.Contains(text, "0 differ") || strings.Contains(text, "compared   0") {
		t.Errorf("replay verify: exit code %d, %s%s", code, text, &errs)
	}
}

// What compat and player-tokens refuse.
func TestCompatFlags(t *testing.T) {
	for _, row := range []struct{ flags, want string }{
		{"--set compat=true", "game skirmish has no other wire"},
		{"--game minimal --set compat=true", "game minimal has no other wire"},
		{"--game platforms --set compat=true", "ok"},
		{"--game platforms --set compat=true --guests 1", "cannot be used with --guests"},
		{"--game platforms --set compat=true --set players-see=views", "cannot be used with players-see views"},
		{"--game platforms --set compat=true --set relay=true", "cannot be used with relay: it needs a referee"},
		{"--game platforms --set compat=true --set player-tokens=a,b", "ok"},
		{"--game platforms --set compat=true --set player-tokens=a --players 3", "ok"},
		{"--game platforms --set player-tokens=a,b,c --players 2", "got 3, want at most 2"},
		{"--game platforms --set player-tokens=a,b,a", "seats 0 and 2 have the same token"},
		{"--game platforms --set player-tokens=a,b --listen 0.0.0.0:8766", "want --listen on a loopback address"},
		{"--game platforms --set player-tokens=a,b --listen :8766", "want --listen on a loopback address"},
		{"--game platforms --set player-tokens=a,b --listen example.com:8766", "want --listen on a loopback address"},
		{"--game platforms --set player-tokens=a,b --set trusted-proxy=127.0.0.1", "no trusted-proxy"},
		{"--game platforms --set player-tokens=a,b --listen [::1]:8766", "ok"},
		{"--game platforms --set player-tokens=a,b --listen unix:here", "ok"},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"samestep", "serve", "--check-config", "--dir", ""}, strings.Fields(row.flags)...)
		code := tooltest.Run(t.Context(), args, &out, &errs)
		if text := out.String() + errs.String(); !strings.Contains(text, row.want) || (code == console.ExitOK) != (row.want == "ok") {
			t.Errorf("%s: exit code %d, %s, want %s", row.flags, code, text, row.want)
		}
	}
}

// Only a program with a game that has another wire has the key.
func TestCompatKey(t *testing.T) {
	for _, x := range []struct {
		games []Game
		want  bool
	}{
		{[]Game{New(minimal.Rules())}, false},
		{[]Game{New(minimal.Rules()), New(platforms.Rules(), Compat(compat.Settings(), nil))}, true},
	} {
		var out bytes.Buffer
		code := Run(t.Context(), []string{"mygame", "serve", "--print-settings"}, &out, io.Discard, x.games...)
		if code != console.ExitOK || strings.Contains(out.String(), "compat:") != x.want || !strings.Contains(out.String(), "player-tokens") {
			t.Errorf("exit code %d, want compat: %t\n%s", code, x.want, &out)
		}
	}
}

// A match of compat has the settings of the other wire, and flags are stronger.
func TestCompatSettings(t *testing.T) {
	for flags, want := range map[string][3]uint32{
		"--set compat=true":                {60, 100, 600},
		"--set compat=true --tick-rate 30": {30, 100, 600},
		"":                                 {20, 20, 1200},
		"--set compat=true --set player-tokens=a,b": {60, 100, 600},
	} {
		s := tooltest.Serve(t, append([]string{"--game", "platforms", "--dir", ""}, strings.Fields(flags)...)...)
		status, err := tooltest.Status(t, s.URL+"/matches/match-1")
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Settings; uint32(got.TickRate()) != want[0] || uint32(got.CheckEvery) != want[1] || got.KeyframeEvery != want[2] {
			t.Errorf("%q: got %+v, want %v", flags, got, want)
		}
		s.Stop()
	}
}
