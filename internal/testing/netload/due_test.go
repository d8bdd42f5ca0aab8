//go:build !js

package netload

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
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
	if Missing(0, 10) != nil || Missing(1, 10) == nil {
		t.Error("want an error for a missing frame alone")
	}
}

// A match that its rules ended is cured by what can still be changed.
func TestBenchNetLasts(t *testing.T) {
	for _, row := range []struct {
		ended    bool
		period   time.Duration
		arrivals int
		want     string
	}{
		{false, time.Second / 20, 0, ""},
		{true, time.Second / 20, 0, ": try a lower --tick-rate, or a --config whose matches last"},
		{true, time.Second / 20, 20, ": try a lower --tick-rate, or"},
		{true, time.Second / 20, 21, ": try a shorter --time, a lower --tick-rate, or"},
		{true, time.Second, 0, ": try a --config whose matches last"},
	} {
		err := (&loadGuest{ended: row.ended, period: row.period, arrivals: make([]arrival, row.arrivals)}).lasts()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: got %v", row, err)
		}
	}
}

// A table shows what was measured, and a dash where nothing was.
func TestWireResult(t *testing.T) {
	r := WireResult{Datagrams: SideResult{Execution: spread{P50MS: 1.25, LongestMS: 3}}}
	var out bytes.Buffer
	r.Print(&out)
	for _, want := range []string{`command to execution, median +– +1\.2 ms`, `command to execution, longest +– +3\.0 ms`, `frames late, median +– +–`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("got %s, want %q", &out, want)
		}
	}
}
