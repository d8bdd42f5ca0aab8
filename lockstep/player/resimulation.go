package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Resimulated: after a desync the server has asked this client to compute the ticks after From up to To again. Outcome
// says what that shows. A later one for the same ticks replaces an earlier one.
type Resimulated struct {
	From, To lockstep.Tick
	Outcome  protocol.Outcome
}

// materialOf copies what is needed to compute the ticks from+1 to last again, and returns nil if it is not kept.
func materialOf(g *lockstep.Game, r *follow.Run, from, last lockstep.Tick) *answers.Material {
	f := r.Follower()
	if f == nil || f.Tick() < last || last-from > answers.MaxTicks {
		return nil
	}
	m := f.Moment(from)
	if m == nil || m.State == nil {
		return nil
	}
	commands, first, kept := r.Past(from, last)
	sim, err := g.AwaitState(f.Header())
	if !kept || err != nil {
		return nil
	}
	return &answers.Material{From: from, Last: last, State: append([]byte(nil), m.State...), Hash: m.Sum.Hash, Commands: commands, First: first, Sim: sim}
}
