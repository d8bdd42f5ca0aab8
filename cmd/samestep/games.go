package main

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// games are those that this binary can simulate. A studio's own binary lists
// its own.
var games = []*lockstep.Game{lockstep.MustGame(skirmish.Rules())}

// gameOf returns the game of a replay's header. If there is none that fits, it
// returns the [*lockstep.IdentityError] that says why.
func gameOf(h *lockstep.Header) (*lockstep.Game, error) {
	var first error
	for _, g := range games {
		err := g.CheckIdentity(h)
		if err == nil {
			return g, nil
		}
		if first == nil || g.Name() == h.Game {
			first = err
		}
	}
	return nil, first
}
