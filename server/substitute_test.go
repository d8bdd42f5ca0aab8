//go:build !js

package server_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A bot plays for a player who is gone, also after a crash of the server, and the player takes the seat back.
func TestSubstitutePlays(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		var asked atomic.Int64
		options := host.Options{
			Grace: lockstep.Second / 5,
			Substitute: func(p lockstep.Player) lockstep.Bot {
				bot := minimal.NewBot(p, 1)
				return func(s *lockstep.Simulation) []any {
					asked.Add(1)
					return bot(s)
				}
			},
		}
		durable := server.Options{Durability: replay.SyncFrame}
		first := newStage(t, setup{pipes: true, host: options, options: durable})
		first.raw(t, ada, protocol.SessionToken{}, 0).live().ws.CloseNow()
		eventually(t, "a bot plays", func() bool { return asked.Load() > 20 })
		crashed := first.crash(t)
		first.stop()
		before := asked.Load()
		second := newStage(t, setup{pipes: true, host: options, options: durable, interrupted: crashed})
		eventually(t, "a bot plays again", func() bool { return asked.Load() > before+20 })
		b := second.join(t, ada, wander)
		eventually(t, "the player is back", func() bool { return b.status().Agreed > 2 })
		before = asked.Load()
		was := b.tick()
		eventually(t, "it goes on", func() bool { return b.tick() > was+20 })
		if n := asked.Load() - before; n > 5 {
			t.Errorf("the bot was asked %d times after its player was back", n)
		}
		second.agree(t, b)
	})
}

// The server's log has the stack of a substitute that panics, once for a player.
func TestSubstitutePanics(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, host: host.Options{Grace: lockstep.Second / 5, Substitute: func(lockstep.Player) lockstep.Bot { panic("nobody") }}})
		for i := range 2 {
			s.raw(t, ada, protocol.SessionToken{}, 0).live().ws.CloseNow()
			eventually(t, "its substitute fails", func() bool { return len(s.lines("substitute failed", "the bot panicked: nobody")) == i+1 })
		}
		if got := s.lines("stack=", "TestSubstitutePanics"); len(got) != 1 || !strings.Contains(got[0], "substitute failed") {
			t.Errorf("got %q, want the stack once", got)
		}
	})
}

// Each seat of a guest's match with substitutes counts as a bot.
func TestGuestsSubstitutesAreBots(t *testing.T) {
	s := newStage(t, setup{
		host: host.Options{Substitute: func(lockstep.Player) lockstep.Bot { return nil }},
		options: server.Options{
			Authorizer: server.AnyOf(opsOnly(t), server.Guests{}), NewMatch: newGuestMatch, Limits: server.Limits{GuestMatches: 4, GuestBots: 2},
		},
	})
	status, text := s.postFrom("192.0.2.1", someGuest, strings.NewReader(guestMatch("a", 0, 0)))
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "bots in their matches, want at most 2") {
		t.Errorf("got %d %q, want a refusal because of the bots", status, text)
	}
	if status, text := s.postFrom("192.0.2.1", ops, strings.NewReader(guestMatch("a", 0, 0))); status != http.StatusCreated {
		t.Errorf("an admin's match: got %d %q", status, text)
	}
}
