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
	v      *Viewer
	inside bool // a step
	last   time.Time
	phase  int
}

// measure lets the steps of a simulation be measured.
func (c *costs) measure(g *lockstep.Game, s *lockstep.Simulation) {
	g.NewFollowerAt(s.Header(), s, lockstep.FollowerOptions{Stepping: c.mark}) // which a simulation keeps
}

// mark takes the time of a mark of the rules.
func (c *costs) mark(t *lockstep.Turn, phase string, over bool) {
	if c.v.Now == nil {
		return
	}
	now := c.v.Now()
	column := c.v.column(t.Tick, costColumns)
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

// Costs returns what the simulated ticks cost, for reading; nil if no more than some ticks were measured, as in a recording of another
// engine, or without [Viewer.Now].
func (v *Viewer) Costs(after int) *Costs {
	if v.costs.Ticks <= after {
		return nil
	}
	return &v.costs.Costs
}

// column returns the column of a tick.
func (v *Viewer) column(at lockstep.Tick, columns int) int {
	ticks := max(uint64(v.last-v.First()), 1)
	return int(min(uint64(max(at, v.First())-v.First())*uint64(columns)/ticks, uint64(columns-1)))
}
