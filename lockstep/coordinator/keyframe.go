package coordinator

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// keyframe writes the state of sim into the log, with the last sequences up to there.
func (c *Coordinator) keyframe(sim *lockstep.Simulation, last []record.LastSequence) error {
	defer c.enc.Release() // a server has many matches, and keyframes are rare
	state := sim.AppendState(nil)
	if len(state) > lockstep.MaxStateSize {
		return fmt.Errorf("lockstep: tick %d: got a state of %d bytes, want at most %d", sim.Tick(), len(state), lockstep.MaxStateSize)
	}
	c.stateBytes, c.stateTick = len(state), sim.Tick()
	return c.append(c.enc.Keyframe(sim.Tick(), sim.Hash(), last, state))
}

// Keyframe writes the state after the last sealed tick into the log, unless the log has it as the last keyframe. Without a
// referee there is no state.
func (c *Coordinator) Keyframe() error {
	switch {
	case c.err != nil:
		return c.err
	case c.referee == nil:
		return errors.New("lockstep: relay mode has no state for a keyframe")
	case c.stateTick == c.sealed:
		return nil
	}
	c.last = c.enc.AppendLast(c.last[:0])
	if err := c.keyframe(c.referee.Simulation(), c.last); err != nil {
		return c.fail(err)
	}
	return nil
}

// StateBytes returns the size of the last keyframe in the log.
func (c *Coordinator) StateBytes() int { return c.stateBytes }
