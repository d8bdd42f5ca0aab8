//go:build !js

package serving

import (
	"fmt"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// fill gives the last seats of a match to bots, so that people get the first ones.
func (p *MatchPolicy) fill(spec *server.MatchSpec, wanted uint) {
	spec.Bots, spec.BotKind = make([]lockstep.Bot, spec.Settings.Players), p.Bot
	bots := int(min(wanted, uint(len(spec.Bots))))
	for i := range bots {
		seat := lockstep.Player(len(spec.Bots) - 1 - i)
		spec.Bots[seat] = SeatedBot(p.Game, seat, uint64(seat)+1)
	}
	if p.Idle > 0 {
		spec.OnStart = func(m *server.Match) { go p.watch(m, bots) }
	}
}

// SeatedBot returns a bot that is made at its first turn. There a panic is that of the bot, and leaves its seat; here it would end
// the server.
func SeatedBot(g *gameset.Playable, p lockstep.Player, seed uint64) lockstep.Bot {
	var bot lockstep.Bot
	return func(s *lockstep.Simulation) []any {
		if bot == nil {
			if bot = g.Bot(p, seed); bot == nil {
				panic("there is none for this seat")
			}
		}
		return bot(s)
	}
}

// watch ends a match when only bots have been connected to it for a while.
func (p *MatchPolicy) watch(m *server.Match, bots int) {
	check := time.NewTicker(max(time.Second, p.Idle/10))
	defer check.Stop()
	alone := time.Now()
	for {
		select {
		case <-m.Done():
			return
		case <-check.C:
		}
		if v := m.View(); v.Stats.Players+v.Stats.Spectators > bots {
			alone = time.Now()
		} else if time.Since(alone) > p.Idle {
			// The match is over if this fails.
			_ = m.End(p.Ctx, fmt.Sprintf("only bots were connected for %v", p.Idle))
			return
		}
	}
}

// openTo also lets guests in, if there may be any.
func openTo(guests uint, a server.Authorizer) server.Authorizer {
	if guests == 0 {
		return a
	}
	return server.AnyOf(a, server.Guests{})
}
