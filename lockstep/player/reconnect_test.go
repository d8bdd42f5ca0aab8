package player_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A client that may not reconnect gives up at its first loss, with the reason.
func TestReconnectOffAfterLoss(t *testing.T) {
	for attempts, want := range map[int]string{
		-1: "player.Dialing player.Connected player.ConnectionLost player.LostForGood ",
		1:  "player.Dialing player.Connected player.ConnectionLost player.Retrying ",
	} {
		c := player.New(lockstep.MustGame(testgame.BankRules()), player.Options{Reconnect: player.ReconnectPolicy{Attempts: attempts}})
		cut, got := errors.New("cut"), ""
		take := func() {
			for _, e := range c.Ready().Events {
				got += fmt.Sprintf("%T ", e)
				if lost, ok := e.(player.ConnectionLost); ok && !errors.Is(lost.Err, cut) {
					t.Errorf("attempts %d: got %v, want the reason", attempts, lost.Err)
				}
				if lost, ok := e.(player.LostForGood); ok && (!errors.Is(lost.Err, cut) || !errors.Is(lost.Err, player.ErrGaveUp)) {
					t.Errorf("attempts %d: got %v, want the reason", attempts, lost.Err)
				}
			}
		}
		c.Advance(0)
		take()
		c.Connected(1)
		take()
		c.Disconnected(2, cut)
		take()
		if got != want {
			t.Errorf("attempts %d: got %s, want %s", attempts, got, want)
		}
	}
}
