package locksteptest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// refused plays the match once more without the refused commands. The result is the same.
func (r *trial) refused() {
	c, err := r.coordinator(ignore{}, lockstep.FollowerOptions{})
	if err != nil {
		r.err = err
		return
	}
	last := make([]lockstep.Sequence, r.options.Players)
	left := r.played
	for t := lockstep.Tick(1); t <= r.options.Ticks; t++ {
		for ; len(left) > 0 && left[0].tick == t; left = left[1:] {
			r.submitAgain(c, &left[0], last)
		}
		f, err := r.tick(r.phase, t, c)
		if !r.ok(t, err) {
			return
		}
		if want := r.frame(t - 1); !equalFrames(f, want) {
			r.ok(t, fmt.Errorf("other commands were accepted: got %d, want %d", len(f.Commands), len(want.Commands)))
			return
		}
		r.same(c.Referee().Simulation())
	}
}

// submitAgain submits a command that was accepted the first time. last has the last sequence of each player.
func (r *trial) submitAgain(c *coordinator.Coordinator, o *order, last []lockstep.Sequence) {
	switch {
	case o.system != nil:
		_ = issue(c, o.system) // with the result of the first time
	case o.receipt.Reason == lockstep.Accepted:
		r.keepUp(c, o, &last[o.player])
		if again := c.Submit(o.player, o.sequence, o.kind, o.payload); again != o.receipt {
			r.ok(o.tick, o.differs(again))
		}
		last[o.player] = o.sequence
	}
}

// keepUp advances a player's sequence where many commands in between were refused: it submits commands of an unknown kind.
func (r *trial) keepUp(c *coordinator.Coordinator, o *order, last *lockstep.Sequence) {
	const near = 200 // of the 256 that a coordinator looks ahead
	for *last+near < o.sequence {
		*last += near
		c.Submit(o.player, *last, r.unknown, nil)
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
