package evidence

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Checks are those on which late spectators can report. The coordinator keeps only the last ones.
type Checks struct {
	every lockstep.Tick
	past  []coordinator.Check // tick t is at (t / every) modulo its length; none without a delay
	stale bool                // the coordinator has corrected some
}

// NewChecks returns the checks for spectators who are some ticks late, of a match with a check every so many ticks.
func NewChecks(delay, every lockstep.Tick) (c Checks) {
	if c.every = every; delay > 0 {
		c.past = make([]coordinator.Check, delay/every+record.CheckWindow)
	}
	return c
}

// Correct says that the coordinator has corrected checks.
func (c *Checks) Correct() { c.stale = len(c.past) > 0 }

// Stale returns the ticks of the checks to show again, because the coordinator has corrected some since the last call.
func (c *Checks) Stale() (all []lockstep.Tick) {
	if !c.stale {
		return nil
	}
	c.stale = false
	for i := range c.past {
		all = append(all, c.past[i].Tick)
	}
	return all
}

// Show keeps a check.
func (c *Checks) Show(k coordinator.Check) {
	if len(c.past) > 0 {
		*c.at(k.Tick) = k
	}
}

// Of returns the check of tick t, or another one that uses its slot. It returns false if the coordinator's are meant.
func (c *Checks) Of(t lockstep.Tick) (k coordinator.Check, ok bool) {
	if len(c.past) == 0 {
		return k, false
	}
	return *c.at(t), true
}

func (c *Checks) at(t lockstep.Tick) *coordinator.Check {
	return &c.past[t/c.every%lockstep.Tick(len(c.past))]
}
