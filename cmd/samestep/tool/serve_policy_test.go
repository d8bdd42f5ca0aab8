//go:build unix && !solaris && !aix && !js

package tool

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A match keeps the policies and the bots of its creation when a server without these flags resumes it. A flag of the
// new server replaces that of the creation.
func TestServeRestoresPolicies(t *testing.T) {
	testenv.Long(t) // the tests of resumed matches of package server have the policies
	t.Parallel()
	dir := t.TempDir()
	common := []string{"--players", "2", "--config", `{"Units":20}`, "--tick-rate", "50", "--dir", dir, "--durability", "frame", "--resume"}
	after := func(s *tooltest.Server, tick uint32) *server.Status {
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			v, err := tooltest.Status(t, s.URL+"/matches/match-1")
			if err == nil && uint32(v.Tick) > tick {
				return v
			}
			if time.Now().After(end) {
				t.Fatalf("no tick after tick %d: %+v, %v", tick, v, err)
			}
		}
	}
	first := tooltest.Serve(t, append(common, "--bots", "1", "--set", "input-delay=7", "--set", "start=now")...)
	v := after(first, 20)
	for _, c := range []struct {
		flags []string
		delay uint64
	}{{nil, 7}, {[]string{"--set", "input-delay=3"}, 3}} {
		first.Kill()
		first = tooltest.Serve(t, append(common, c.flags...)...)
		before := uint32(v.Tick)
		v = after(first, before+20)
		if uint64(v.Stats.InputDelay) != c.delay || v.Stats.Players != 1 {
			t.Errorf("resumed with %v: input delay %d and %d players, want %d and the bot", c.flags, v.Stats.InputDelay, v.Stats.Players, c.delay)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "live", "*.ssr")); len(logs) != 1 {
		t.Errorf("got logs %v, want one", logs)
	}
}
