package coordinator

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// crashed ends the match because of err. If the rules panicked, the log gets the state of the last sealed tick before its end, if that can be
// computed again, and a record of the panic with the commands on which they did: no frame has them.
func (c *Coordinator) crashed(err error, commands ...lockstep.Command) error {
	fault := (*lockstep.PanicError)(nil)
	if c.err != nil || !errors.As(err, &fault) {
		return c.fail(err)
	}
	if sim := c.lastState(); sim != nil && c.stateTick != c.sealed {
		c.last = c.enc.AppendLast(c.last[:0])
		_ = c.keyframe(sim, c.last) // without it, the earlier ones and their frames lead there; a failed log is in c.err
	}
	if c.err == nil {
		_ = c.append(c.enc.Panic(fault.Record(commands))) // the same
	}
	return c.fail(err)
}

// lastState computes the state of the last sealed tick again, from the latest one that is kept, or returns nil. The referee's own is unusable
// after a panic.
func (c *Coordinator) lastState() *lockstep.Simulation {
	var kept *lockstep.Moment
	for m := c.referee.MomentFrom(0); m != nil; m = c.referee.MomentFrom(m.Tick + 1) {
		if m.State != nil {
			kept = m
		}
	}
	if kept == nil || c.options.Frames == nil {
		return nil
	}
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames.Frames(kept.Tick, c.sealed)
	if frames == nil || len(frames) > c.mayResimulate {
		return nil
	}
	c.mayResimulate -= len(frames)
	return c.again(kept, frames)
}

// acceptAgain puts the commands of a frame on which the rules panicked into the next frame: their players were told that they run then.
// What [lockstep.System] had to say is out of date.
func (c *Coordinator) acceptAgain(commands []lockstep.Command) {
	for i := range commands {
		cmd := &commands[i]
		if cmd.Player == lockstep.System {
			continue
		}
		s := &c.seats[cmd.Player]
		s.remember(lockstep.Receipt{Sequence: cmd.Sequence, Tick: cmd.Tick})
		s.used(c.limits, cmd.Kind, cmd.Tick)
		s.last = cmd.Tick
		c.slot(cmd.Tick).add(*cmd)
	}
}
