//go:build !js

package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A botHost gives seats of the server's matches to bots.
type botHost struct {
	ctx  context.Context
	game *playable
	idle time.Duration // ends a match with only bots; negative: never
}

// fill gives the last seats of a match to bots, so that people get the first ones.
func (b *botHost) fill(spec *server.MatchSpec, wanted uint) {
	if wanted == 0 {
		return
	}
	spec.Bots = make([]lockstep.Bot, spec.Settings.Players)
	bots := int(min(wanted, uint(len(spec.Bots))))
	for i := range bots {
		p := lockstep.Player(len(spec.Bots) - 1 - i)
		spec.Bots[p] = b.game.bot(p, uint64(p)+1)
	}
	if b.idle > 0 {
		spec.OnStart = func(m *server.Match) { go b.watch(m, bots) }
	}
}

// watch ends a match when only bots have been connected to it for a while.
func (b *botHost) watch(m *server.Match, bots int) {
	check := time.NewTicker(max(time.Second, b.idle/10))
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
		} else if time.Since(alone) > b.idle {
			// The match is over if this fails.
			_ = m.End(b.ctx, fmt.Sprintf("only bots were connected for %v", b.idle))
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

// withinURL returns the address of a match for connections within the process.
func withinURL(match string) string { return "ws://localhost/matches/" + match + "/play" }
