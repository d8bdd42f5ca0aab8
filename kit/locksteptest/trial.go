package locksteptest

import (
	"cmp"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A trial is one run of a phase. It keeps its first error, and its methods do nothing after that.
type trial struct {
	*match
	phase string
	from  lockstep.Tick // of the saved state in use; 0 in phases without one
	err   error         // a *Failure
}

func (m *match) try(p phase) error {
	r := &trial{match: m, phase: p.name}
	p.run(r)
	return r.err
}

// ok makes an error at tick t the failure of the trial, unless there is one. It reports whether there is none.
func (r *trial) ok(t lockstep.Tick, err error) bool {
	if r.err == nil && err != nil {
		r.err = r.fail(r.phase, r.from, t, err)
	}
	return r.err == nil
}

// same compares the state of a simulation with the saved one of its tick.
func (r *trial) same(sim *lockstep.Simulation) {
	if r.err == nil {
		r.err = r.compare(r.phase, r.from, sim, r.states[sim.Tick()])
	}
}

// saved yields the ticks of the states to restore.
func (r *trial) saved(yield func(lockstep.Tick) bool) {
	for t := lockstep.Tick(0); t < r.options.Ticks; t += r.options.Every {
		if r.from = t; r.err != nil || !yield(t) {
			return
		}
	}
}

// frame returns the frame after tick t.
func (r *trial) frame(t lockstep.Tick) *lockstep.Frame { return &r.frames[t] }

// simulation returns a simulation of the match at tick 0. It is nil if there is an error.
func (r *trial) simulation() *lockstep.Simulation {
	sim, err := r.game.NewSimulation(r.header)
	r.ok(0, err)
	return sim
}

// restoreTo sets a simulation to the saved state of tick t.
func (r *trial) restoreTo(sim *lockstep.Simulation, t lockstep.Tick) {
	if r.err == nil {
		r.ok(t, sim.Restore(t, r.states[t]))
	}
}

func (r *trial) copyTo(sim, from *lockstep.Simulation) {
	if r.err == nil {
		r.ok(from.Tick(), sim.CopyFrom(from))
	}
}

func (r *trial) step(sim *lockstep.Simulation, t lockstep.Tick) {
	if r.err == nil {
		r.ok(t+1, r.traced(r.phase, r.from, t+1, sim, func() error { return sim.Step(r.frame(t)) }))
	}
}

// stepTo advances a simulation from tick t to the next saved state.
func (r *trial) stepTo(sim *lockstep.Simulation, t lockstep.Tick) {
	for end := min(t+r.options.Every, r.options.Ticks); t < end; t++ {
		r.step(sim, t)
	}
}

// goOn advances a simulation from the saved state to a tick with advance, and compares each state and all results of Validate.
func (r *trial) goOn(sim *lockstep.Simulation, to lockstep.Tick, advance func(*lockstep.Frame) error) {
	r.same(sim)
	for t := r.from; t < min(to, r.options.Ticks) && r.err == nil; t++ {
		r.validate(sim)
		if r.err == nil && r.ok(t+1, r.traced(r.phase, r.from, t+1, sim, func() error { return advance(r.frame(t)) })) {
			r.same(sim)
		}
	}
}

// validate lets a simulation validate the commands that arrived at its tick. It must accept the same commands as the
// coordinator, as on a server that was restarted.
func (r *trial) validate(sim *lockstep.Simulation) {
	if r.err != nil {
		return
	}
	t := sim.Tick() + 1
	at, _ := slices.BinarySearchFunc(r.played, t, func(o order, t lockstep.Tick) int { return cmp.Compare(o.tick, t) })
	r.payloads.Reset()
	for ; at < len(r.played) && r.played[at].tick == t; at++ {
		o := &r.played[at]
		if o.system != nil || o.receipt.Reason != lockstep.Accepted && o.receipt.Reason != lockstep.Refused {
			continue // the game was not asked
		}
		c := lockstep.Command{Tick: t - 1 + delayTicks, Player: o.player, Sequence: o.sequence, Kind: o.kind, Payload: o.payload}
		err := r.payloads.Decode(&c)
		if err == nil {
			err = sim.Validate(&c)
		}
		if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
			r.ok(t-1, err)
		} else if accepted := err == nil; accepted != (o.receipt.Reason == lockstep.Accepted) {
			r.ok(t-1, o.differs(verdict(err)))
		}
	}
}

func verdict(err error) string {
	if err == nil {
		return "accepted"
	}
	return "rejected: " + err.Error()
}
