package faultinjection

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Subject is the game in whose matches faults are planted.
type Subject struct {
	Game    *lockstep.Game
	Config  any   // pointer to the configuration of the matches
	Players uint8 // seats of a match, at least 2

	// Bot returns the bot of a seat: pointers to registered types, valid until the next call.
	Bot func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any

	// Faulty returns the game with a change in its Step: the result of [Faulty].
	Faulty func(*Change) *lockstep.Game

	ticks, every lockstep.Tick // of a match, and from one check to the next; 0: as usual
}

// A Change is a fault in Step, in one tick or in all.
type Change struct {
	tick     lockstep.Tick                                              // 0: every tick
	commands func(lockstep.Tick, []lockstep.Command) []lockstep.Command // what Step gets in a tick; nil: what it should get
	before   func(t lockstep.Tick, b []byte) []byte                     // changes the canonical state before the step; nil disables it
	after    func(t lockstep.Tick, before, b []byte) []byte             // changes the canonical state after the step; nil disables it
	config   func(b []byte) []byte                                      // changes the canonical configuration; nil disables it
}

// Faulty returns a function that builds a game with changed rules.
func Faulty[S, C any](rules lockstep.Rules[S, C]) func(*Change) *lockstep.Game {
	return func(c *Change) *lockstep.Game {
		f := &faulty[S, C]{rules: rules, codec: state.MustCompile[S](), config: state.MustCompile[C](), change: *c}
		changed := rules
		changed.Step = f.step
		return lockstep.MustGame(changed)
	}
}

// A faulty is rules with a change. It has no state, because a verification has several workers.
type faulty[S, C any] struct {
	rules  lockstep.Rules[S, C]
	codec  *state.Codec[S]
	config *state.Codec[C]
	change Change
}

func (f *faulty[S, C]) step(w *S, config *C, t *lockstep.Turn) {
	c := &f.change
	if c.tick != 0 && c.tick != t.Tick {
		f.rules.Step(w, config, t)
		return
	}
	if c.config != nil {
		config = f.other(config)
	}
	var before []byte
	if c.before != nil || c.after != nil {
		before = f.codec.Append(nil, w)
	}
	if c.before != nil {
		f.set(w, config, c.before(t.Tick, slices.Clone(before)))
	}
	given := t.Commands
	if c.commands != nil {
		//samestep:allow unseen the planted fault
		t.Commands = c.commands(t.Tick, slices.Clone(given))
	}
	f.rules.Step(w, config, t)
	t.Commands = given
	if c.after != nil {
		f.set(w, config, c.after(t.Tick, before, f.codec.Append(nil, w)))
	}
}

// other returns the changed configuration.
func (f *faulty[S, C]) other(config *C) *C {
	changed := *config // with what is derived
	if err := f.config.Decode(f.change.config(f.config.Append(nil, config)), &changed); err != nil {
		panic(err) // a change keeps the bytes canonical
	}
	return &changed
}

// set sets the state to canonical bytes.
func (f *faulty[S, C]) set(w *S, config *C, b []byte) {
	if err := f.codec.Decode(b, w); err != nil {
		panic(err) // a change keeps the bytes canonical
	}
	if f.rules.Derive != nil {
		f.rules.Derive(w, config)
	}
}
