//go:build !js

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

// A flag without an effect is a mistake, and so is a value out of its range. The error says what was got and what is wanted.
func TestServeRefusesFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(empty, []byte("# nobody yet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]string{
		"--players 2 --set start=9":                                   "start: got 9 players, want at most 2, the seats without a bot",
		"--players 2 --set start=ready:9":                             "start: got 9 players, want at most 2",
		"--players 4 --bots 3 --set start=2":                          "start: got 2 players, want at most 1",
		"--set countdown=5s":                                          "countdown: needs a start of ready or ready:N",
		"--set countdown=5s --set start=2":                            "countdown: needs a start of ready",
		"--set start=ready --set countdown=-1s":                       "countdown: got -1s, want 0s to 10m0s",
		"--set start=ready --set countdown=11m":                       "countdown: got 11m0s, want 0s to 10m0s",
		"--set inactive=-5s":                                          "inactive: got -5s, want 0s to 24h0m0s",
		"--set inactive=0s --set inactive-then=remove":                "inactive-then: remove has no effect with inactive 0",
		"--set await-players=-1s":                                     "await-players: got -1s, want at least 0s",
		"--set drain=-1s":                                             "drain: got -1s, want at least 0s",
		"--set idle=-1s":                                              "idle: got -1s, want at least 0s",
		"--set bundles=true --set replays=false":                      "bundles: needs replays",
		"--set bundles=true":                                          "ok",
		"--set grace=0s":                                              "grace: got 0s, want 1ms to 24h0m0s",
		"--tokens " + empty:                                           "--tokens: got no token in " + empty + ", want at least one",
		"--matches 0 --set countdown=5s":                              "ok",
		"--set start=ready:2 --set countdown=5s --players 2":          "ok",
		"--players 2 --bots 2":                                        "ok",
		"--set grace=5s --set idle=0s --set inactive-then=remove":     "ok",
		"--guests 2 --tokens " + empty:                                "ok",
		"--set inactive=0s --set inactive-then=report --set drain=0s": "ok",
	} {
		code, out := checkServe(t, "", strings.Fields(flags)...)
		if ok := want == "ok"; ok != (code == console.ExitOK) || !ok && code != console.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: got exit code %d and %q, want %q", flags, code, out, want)
		}
	}
}
