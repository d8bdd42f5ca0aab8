package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Resimulated: after a desync the server has asked this client to compute the ticks after From up to To again. Outcome
// says what that shows. A later one for the same ticks replaces an earlier one.
type Resimulated struct {
	From, To lockstep.Tick
	Outcome  protocol.Outcome
}

// material copies what is needed to compute the ticks from+1 to last again, and returns nil if it is not kept.
func (r *runner) material(g *lockstep.Game, from, last lockstep.Tick) *answers.Material {
	f := r.follower
	if f == nil || f.Tick() < last {
		return nil
	}
	m := f.Moment(from)
	if m == nil || m.State == nil {
		return nil
	}
	a := &answers.Material{From: from, Last: last, State: append([]byte(nil), m.State...), Hash: m.Sum.Hash}
	var kept bool
	if a.Commands, kept = r.tape.since(from, last); !kept || last-from > answers.MaxTicks {
		return nil
	}
	for t := from + 1; t <= last; t++ {
		a.First = append(a.First, r.hashes.of(f, t))
	}
	var err error
	if a.Sim, err = g.AwaitState(f.Header()); err != nil {
		return nil
	}
	return a
}

// resimulate computes the ticks that are due again. A client that catches up has no time for it.
func (c *Client) resimulate() {
	if c.run.follower == nil {
		return
	}
	want, known := c.mismatches.agreedAt(c.answers.Last(), c.run.every())
	free := c.link == linkUp && !c.catchingUp
	if o, news := c.answers.Advance(c.clock, c.pace.duration(1, 100), free, want, known); news {
		c.tell(Resimulated(o))
	}
}
