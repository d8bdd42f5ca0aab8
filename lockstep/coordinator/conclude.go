package coordinator

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// EndedByRules is the reason in the end record of a match that its rules ended.
const EndedByRules = "the rules ended the match"

// Conclude writes the last record if the rules ended the match in the last sealed tick, with the checksum of that tick
// before it. Tick calls it. The owner of a recovered Coordinator calls it too, because the crash may have been before
// that record.
func (c *Coordinator) Conclude() error {
	if c.err != nil || c.referee == nil {
		return c.err
	}
	sim := c.referee.Simulation()
	result, ended := sim.Ended()
	if !ended {
		return nil
	}
	if c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) != 0 { // a checked tick has one
		if err := c.append(c.enc.Checksum(c.sealed, sim.Hash())); err != nil {
			return err
		}
	}
	if err := c.append(c.enc.EndByRules(EndedByRules, result)); err != nil {
		return err
	}
	c.err, c.byRules, c.result = ErrEnded, true, slices.Clone(result)
	return nil
}

// Result returns the canonical bytes of the result, and false unless the rules have ended the match.
func (c *Coordinator) Result() (result []byte, byRules bool) { return c.result, c.byRules }
