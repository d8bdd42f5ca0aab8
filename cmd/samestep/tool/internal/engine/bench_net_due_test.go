//go:build !js && !wasip1

package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Each frame that was due counts once: late if it came, and as missing and late until the end if it did not. Without any frame
// all are missing.
func TestDueFrames(t *testing.T) {
	const ms = time.Millisecond
	from := time.Now()
	due := &dueTime{from: from, to: from.Add(500 * ms), period: 50 * ms}
	var all []arrival // of ticks 98 to 115, the promptest of which is not late: ticks 100 to 109 are due in the time
	for tick := lockstep.Tick(98); tick <= 115; tick++ {
		all = append(all, arrival{tick, from.Add(time.Duration(tick-100)*50*ms + 7*ms*time.Duration(tick%2))})
	}
	without := func(ticks ...lockstep.Tick) []arrival {
		return slices.DeleteFunc(slices.Clone(all), func(a arrival) bool { return slices.Contains(ticks, a.tick) })
	}
	for _, row := range []struct {
		name     string
		arrivals []arrival
		missing  int
		longest  time.Duration
	}{
		{"all", all, 0, 7 * ms},
		{"twice", append(slices.Clone(all), all...), 0, 7 * ms},
		{"two lost", without(104, 109), 2, grace + 300*ms},
		{"lost outside of the time", without(98, 99, 110, 111), 0, 7 * ms},
		{"none after tick 106", all[:9], 3, grace + 150*ms},
		{"none", nil, 10, grace + 500*ms},
	} {
		late, missing := due.late(row.arrivals)
		if len(late) != 10 || missing != row.missing || slices.Max(late) != row.longest {
			t.Errorf("%s: got %v, %d missing, want 10 frames, %d missing, the longest %v", row.name, late, missing, row.missing, row.longest)
		}
	}
	if errMissing(0, 10) != nil || errMissing(1, 10) == nil {
		t.Error("want an error for a missing frame alone")
	}
}
