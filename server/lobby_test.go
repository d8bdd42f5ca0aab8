//go:build !js

package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// Nothing of a lobby is lost by a crash of the process, though no tick makes its file grow.
func TestLobbyIsWritten(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{Start: host.StartPolicy{Players: 2}}}, func(t *testing.T, s *stage) {
		s.join(t, ada, wander)
		eventually(t, "the file tells who is there", func() bool {
			log, err := os.ReadFile(s.match.ReplayPath())
			return err == nil && bytes.Contains(log, []byte(record.EventPresence))
		})
	})
}

// The answer to the start of a match does not say that the match waits.
func TestStartEndsTheWait(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{Start: host.StartPolicy{Players: 2}}}, func(t *testing.T, s *stage) {
		s.join(t, ada, wander)
		eventually(t, "the lobby waits", func() bool {
			v := s.match.Status()
			return v.State == "lobby" && v.Waiting != nil && len(v.Players) == 1
		})
		status, text := s.ask(t, "POST", "/matches/duel/start", ops, "")
		var v server.Status
		if err := json.Unmarshal([]byte(text), &v); err != nil || status != 200 || v.State != "playing" || v.Waiting != nil {
			t.Errorf("got %d, %+v, %v, want playing without a wait: %s", status, v.Waiting, err, text)
		}
		eventually(t, "the log says that it has begun", func() bool { return len(s.lines("subject=match", "event=begun")) == 1 })
	})
}
