//go:build unix && !solaris && !aix && !js

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A restarted counts what one client sees of a restart of its server.
type restarted struct {
	mu      sync.Mutex
	last    lockstep.Tick // of the state before the restart
	back    lockstep.Tick // at which it was live again
	at      time.Time     // when that was
	closing bool          // it was told of the restart
	differs int
}

func (r *restarted) handle(c *player.Client, event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case player.ServerClosing:
		r.closing, r.last = true, c.Tick()
	case player.Synced:
		if r.closing && r.at.IsZero() {
			r.at, r.back = time.Now(), e.Tick
		}
	case player.Desynced:
		r.differs++
	}
}

// returned returns when the client was live again, or the zero time.
func (r *restarted) returned() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// A server with 50 matches of two players is interrupted, and started again at its address. Every client comes back by
// itself, no tick is lost, and nothing differs. How long it takes is logged.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	const matches = 50
	dir, tokens := t.TempDir(), filepath.Join(t.TempDir(), "tokens")
	names := []string{"ann-ann-ann-ann-ann", "bob-bob-bob-bob-bob"}
	list := fmt.Sprintf("player 0 ann - %s\nplayer 1 bob - %s\n", names[0], names[1])
	if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--matches", fmt.Sprint(matches), "--players", "2", "--config", `{"Units":20}`, "--dir", dir, "--tokens", tokens, "--durability", "frame", "--resume", "--set", "max-per-address=1000"}
	first := tooltest.Serve(t, flags...)
	g, err := games.Named("skirmish")
	if err != nil {
		t.Fatal(err)
	}
	var all []*restarted
	var sessions []*client.Session
	for i := range matches {
		for _, token := range names {
			r := new(restarted)
			url := fmt.Sprintf("%s/matches/match-%d/play", strings.Replace(first.URL, "http", "ws", 1), i+1)
			s := client.Dial(t.Context(), url, g.Game, client.Options{Options: player.Options{Token: token}, Handle: r.handle})
			t.Cleanup(func() { s.Close() })
			all, sessions = append(all, r), append(sessions, s)
		}
	}
	for i, s := range sessions {
		select {
		case <-s.Ready():
		case <-time.After(time.Minute):
			t.Fatalf("client %d does not play: %s", i, first.Stderr.String())
		}
	}
	time.Sleep(2 * time.Second) // of play
	interrupted := time.Now()
	if code := first.Stop(); code != console.ExitOK {
		t.Fatalf("the server exited with %d: %s", code, first.Stderr.String())
	}
	second := tooltest.Serve(t, append(flags, "--listen", strings.TrimPrefix(first.URL, "http://"))...)
	var longest time.Duration
	for i, r := range all {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if at := r.returned(); !at.IsZero() {
				longest = max(longest, at.Sub(interrupted))
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("client %d is not back: %s", i, second.Stderr.String())
			}
		}
		r.mu.Lock()
		if r.back < r.last || r.differs > 0 {
			t.Errorf("client %d: back at tick %d, was at tick %d; %d desyncs", i, r.back, r.last, r.differs)
		}
		r.mu.Unlock()
	}
	t.Logf("all %d clients of %d matches were back after %v", len(all), matches, longest.Round(10*time.Millisecond))
}
