package locksteptest

import (
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// reading computes the match while it is read in every way: events, pictures, words and dumps.
func (r *trial) reading() {
	current, previous := r.simulation(), r.simulation()
	words, err := lockstep.NewDescriber(r.header, r.game)
	if !r.ok(0, err) {
		return
	}
	current.Observe(func(lockstep.Tick, any) {})
	for t := range r.options.Ticks {
		look := (t+1)%r.options.Every == 0
		if look {
			r.copyTo(previous, current)
		}
		r.step(current, t)
		r.same(current)
		if look && r.err == nil {
			r.look(words, previous, current)
		}
	}
}

// look reads two states one tick apart, and compares them with the saved ones.
func (r *trial) look(words *lockstep.Describer, previous, current *lockstep.Simulation) {
	t := current.Tick()
	for i := range r.frame(t - 1).Commands {
		words.Describe(&r.frame(t - 1).Commands[i])
	}
	if r.options.Render != nil {
		for _, f := range [...]player.Fraction{0, player.One / 3, player.One} {
			r.options.Render(player.Interpolation{Previous: previous, Current: current, Fraction: f})
		}
	}
	r.same(previous)
	r.same(current)
	r.ok(t, r.game.StateSchema().Dump(io.Discard, r.states[t]))
	r.ok(t, r.game.StateSchema().DumpJSON(io.Discard, r.states[t]))
}
