//go:build !js

package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An arrival is the time at which a tick's frame arrived.
type arrival struct {
	tick lockstep.Tick
	at   time.Time
}

// grace is how long a frame may be late before it counts as one that did not arrive.
const grace = time.Second

// A dueTime is a time in which frames were due. Their arrivals are noted from before it until a [grace] after it.
type dueTime struct {
	from, to time.Time
	period   time.Duration // of a tick
}

// dueBetween returns the time between two others, of a match with a tick rate.
func dueBetween(from, to time.Time, rate int) *dueTime {
	return &dueTime{from: from, to: to, period: time.Second / time.Duration(rate)}
}

// late returns how late each frame was that was due in the time, compared with the promptest one of its client. A frame that
// did not arrive counts as late until the grace ended, and in missing.
func (d *dueTime) late(arrivals []arrival) (late []time.Duration, missing int) {
	origin := d.from // when tick 0 was due
	for i, a := range arrivals {
		if o := a.at.Add(-time.Duration(a.tick) * d.period); i == 0 || o.Before(origin) {
			origin = o
		}
	}
	tickAt := func(at time.Time) lockstep.Tick { // the first one that is due then or later
		return lockstep.Tick((at.Sub(origin) + d.period - 1) / d.period)
	}
	first, end := tickAt(d.from), tickAt(d.to)
	had := map[lockstep.Tick]bool{}
	for _, a := range arrivals {
		if due := origin.Add(time.Duration(a.tick) * d.period); a.tick >= first && a.tick < end && !had[a.tick] {
			had[a.tick] = true
			late = append(late, a.at.Sub(due))
		}
	}
	for tick := first; tick < end; tick++ {
		if !had[tick] {
			late, missing = append(late, d.to.Add(grace).Sub(origin.Add(time.Duration(tick)*d.period))), missing+1
		}
	}
	return late, missing
}

// errMissing says how many frames did not arrive, or returns nil.
func errMissing(missing, expected int) error {
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s did not arrive within %v: the figures are not those of a server that keeps up", missing, console.Count(expected, "frame"), grace)
}

// percentiles returns the median and the 99th percentile in milliseconds.
func percentiles(d []time.Duration) (p50, p99 float64) {
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return console.Milliseconds(d[len(d)/2]), console.Milliseconds(d[len(d)*99/100])
}
