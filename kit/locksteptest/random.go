package locksteptest

import (
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// everyCall is the rate of a bot that gives a command in each call.
const everyCall = 16

// RandomBot returns a maker of bots that give random commands of every kind, drawn from the schemas of their payloads. rate
// is the mean number of commands in 16 calls; 16 or more is a command in each call. Equal seeds give equal commands. The
// bots of a game without commands give none. weights are Options.Weights, or nil.
func RandomBot(g *lockstep.Game, rate int, weights map[string]int) func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
	return func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
		return randomBot(g, weights, rand.New(rand.NewPCG(seed, uint64(p))), rate)
	}
}

func randomBot(g *lockstep.Game, weights map[string]int, r *rand.Rand, rate int) func(*lockstep.Simulation) []any {
	none := func(*lockstep.Simulation) []any { return nil }
	gen, err := newGenerator(&choices{rng: r}, g.Commands(), weights)
	if err != nil || gen.total == 0 {
		return none
	}
	payloads := g.NewPayloads()
	return func(*lockstep.Simulation) []any {
		if rate < everyCall && gen.below(everyCall) >= rate {
			return nil
		}
		var c lockstep.Command
		c.Kind, c.Payload = gen.command()
		payloads.Reset()
		if payloads.Decode(&c) != nil {
			return nil // too large
		}
		return []any{c.Value}
	}
}
