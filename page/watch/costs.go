package watch

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	costColumns = 400
	costPhases  = 32 // that have times of their own; those after them are one
)

// Costs are the times of the rules' Step in the ticks that were simulated here, in columns of equal length.
type Costs struct {
	Ticks  int       `json:"ticks"`  // measured so far
	Counts []int     `json:"counts"` // by column: those in it
	Phases []CostsOf `json:"phases"` // in the order of their first marks; one without a name is before the first mark
}

// CostsOf are the times of a phase that the rules mark.
type CostsOf struct {
	Name string    `json:"name"`
	US   []float64 `json:"us"` // by column: microseconds of all its ticks
}

// costs measures the steps of a Viewer.
type costs struct {
	Costs
	now    func() time.Time
	column func(t lockstep.Tick, columns int) int
	inside bool // a step
	last   time.Time
	phase  int
}

// mark takes the time of a mark of the rules.
func (c *costs) mark(t *lockstep.Turn, phase string, over bool) {
	now, column := c.now(), c.column(t.Tick, costColumns)
	if c.inside {
		c.Phases[c.phase].US[column] += float64(now.Sub(c.last)) / float64(time.Microsecond)
	}
	c.last, c.inside = now, !over
	if !over {
		c.phase = c.named(phase)
		return
	}
	c.Counts[column]++
	c.Ticks++
}

func (c *costs) named(phase string) int {
	for i := range c.Phases {
		if c.Phases[i].Name == phase || i == costPhases-1 {
			return i
		}
	}
	if c.Counts == nil {
		c.Counts = make([]int, costColumns)
	}
	c.Phases = append(c.Phases, CostsOf{phase, make([]float64, costColumns)})
	return len(c.Phases) - 1
}
