//go:build !js

package mirror_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/internal/testing/loglines"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A logWriter keeps the log of a mirror.
type logWriter struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *logWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *logWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// check reports lines that do not say what they are about.
func (w *logWriter) check(t testing.TB) {
	t.Helper()
	for _, problem := range loglines.Problems(w.String()) {
		t.Errorf("a line of the log of a mirror %s", problem)
	}
}

// A mirror logs who watches, and whose state differs from the match, with the id of the match and of the spectator's session.
func TestSpectatorInTheLog(t *testing.T) {
	t.Parallel()
	x := newOwner(t, nil)
	log := &logWriter{}
	_, address, _ := newMirror(t, mirror.Options{Source: upstream(x.address), Log: slog.New(slog.NewTextHandler(log, nil))})
	w := watch(t, x.game, address, nil)
	eventually(t, "the spectator sees the match", func() bool { return w.tick() > 20 })
	if err := w.s.Do(func(c *player.Client) {
		if err := c.Corrupt("Dots[0].Coins"); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	about := []string{"match=duel", "id=" + x.match.Status().Match, "session=" + w.s.ID(), "address=127.0.0.1"}
	has := func(words ...string) bool {
		words = append(words, about...)
		for line := range strings.Lines(log.String()) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return true
			}
		}
		return false
	}
	eventually(t, "a line that it has joined", func() bool { return has("event=joined") })
	eventually(t, "a line about its desync", func() bool {
		return has("msg=desync", "build="+x.game.Build(), "platform=", "transport=websocket", "client=Go-http-client")
	})
	w.s.Close()
	eventually(t, "a line that it has left", func() bool { return has("event=left") })
}
