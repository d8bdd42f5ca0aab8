//go:build unix && !solaris && !aix && !js

package tool

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A match waits in its lobby until its players are there and ready, or until an admin begins it; so it does after a crash.
func TestServeStart(t *testing.T) {
	testenv.Long(t) // the tests of lobbies of package server have no processes
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--game", "minimal", "--players", "2", "--dir", dir, "--set", "start=ready", "--set", "countdown=100ms", "--durability", "frame", "--resume"}
	s := tooltest.Serve(t, flags...)
	until := func(what string, ok func(*server.Status) bool) *server.Status {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			v, err := tooltest.Status(t, s.URL+"/matches/match-1")
			if err == nil && ok(v) {
				return v
			}
			if time.Now().After(end) {
				t.Fatalf("not %s: %+v, %v", what, v, err)
			}
		}
	}
	lobby := func(v *server.Status) bool {
		return v.State == "lobby" && v.Tick == 0 && v.Waiting != nil && v.Waiting.Reason == protocol.LobbyPlayers
	}
	until("in the lobby", lobby)
	s.Kill()
	s = tooltest.Serve(t, flags...)
	until("in the lobby after a crash", lobby)
	for _, name := range []string{"player-0", "player-1"} {
		go tooltest.Process(t.Context(), os.Args[0], []string{"join", "--token", s.Tokens[name], s.URL + "/matches/match-1"}, io.Discard, io.Discard)
	}
	until("playing", func(v *server.Status) bool {
		return v.State == "playing" && v.Tick > lockstep.Tick(5) && v.Waiting == nil
	})
}
