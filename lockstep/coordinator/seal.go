package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Tick seals the next frame, advances the referee, and writes the log. It returns the sealed frame, which is valid
// until the next call, or nil while the match is paused. An error ends the match: the game panicked, or the log failed.
// If the rules end the match in the frame, Tick returns it and ends the log; the next call fails with [ErrEnded].
//
// The referee runs a frame before it is logged, so a frame that makes the game panic reaches no player. The log keeps it in a record of
// the panic, after the state before it and before the end.
func (c *Coordinator) Tick() (*lockstep.Frame, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := c.Conclude(); err != nil || c.err != nil { // a replaced referee may have computed an end
		return nil, cmp.Or(err, c.err)
	}
	if c.paused {
		return nil, nil
	}
	if c.sealed == lockstep.MaxTick {
		return nil, c.fail(fmt.Errorf("lockstep: tick %d is the last that a match can have", c.sealed))
	}
	c.slots.release(c.sealed) // the caller no longer uses the previous frame
	f := c.seal()
	if c.referee != nil {
		if err := c.referee.Advance(f); err != nil {
			return nil, c.crashed(err, f.Commands...)
		}
	}
	if err := c.append(c.enc.Frame(f)); err != nil {
		return nil, err
	}
	c.sealed = f.Tick
	if err := c.check(); err != nil {
		return nil, err
	}
	return f, c.Conclude()
}

// seal puts the next tick's commands into canonical order. The frame is final.
func (c *Coordinator) seal() *lockstep.Frame {
	t := c.sealed + 1
	commands := c.slot(t).commands
	//samestep:allow sort Compare is zero only for the same command
	slices.SortFunc(commands, func(a, b lockstep.Command) int { return record.Compare(&a, &b) })
	for i := range commands {
		cmd := &commands[i]
		if cmd.Player != lockstep.System {
			c.seats[cmd.Player].sealed = cmd.Sequence
			continue
		}
		c.system++
		cmd.Sequence = c.system
	}
	c.paused, c.pausing = c.pausing, false
	c.frame = lockstep.Frame{Tick: t, Commands: commands}
	return &c.frame
}

// issue puts a command of System into the frame of tick t. Its sequence there counts within the tick; seal replaces it
// by one that counts within the match.
func (c *Coordinator) issue(t lockstep.Tick, value any) (lockstep.Tick, error) {
	if c.err != nil {
		return 0, c.err
	}
	slot, room := c.slot(t), systemRoom
	if _, resumes := value.(*lockstep.Resumed); !resumes {
		room-- // reserved, so a paused match can always be resumed
	}
	n := slot.system
	if n >= room { // above room if a resume took the reserved place
		return 0, fmt.Errorf("%w: %d system commands in tick %d", ErrBusy, n, t)
	}
	kind, payload := c.payloads.EncodeSystem(value)
	slot.add(lockstep.Command{Tick: t, Player: lockstep.System, Sequence: lockstep.Sequence(n) + 1, Kind: kind, Payload: payload})
	return t, nil
}
