package server

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A delay is what the goroutine did in it, the latest first; what it did before the work was due does not count.
func TestLateness(t *testing.T) {
	const ms = lockstep.Millisecond
	var l load
	l.mark(byWaiting, 100*ms)
	l.step(&lockstep.Turn{}, "", false, 100*ms)
	l.step(&lockstep.Turn{}, "", true, 130*ms)
	l.now.writes = 4 * ms
	l.mark(byHosting, 140*ms)
	l.mark(bySending, 160*ms)
	l.mark(byWaiting, 161*ms)
	l.begin(4 * ms) // not late
	if l.times != 0 {
		t.Errorf("a delay of 4 ms is late")
	}
	l.begin(61 * ms) // the due time was at 100 ms
	if v, want := l.json().Late, (lateJSON{Times: 1, Waiting: 1, Hosting: 6, Stepping: 30, Writing: 4, Sending: 20}); v != want {
		t.Errorf("got %+v, want %+v", v, want)
	}
	l.begin(11 * ms) // 1 ms of waiting, and half of the sending
	if v := l.json().Late; v.Sending != 30 || v.Hosting != 6 {
		t.Errorf("got %+v, want 10 ms more of sending and nothing else of before", v)
	}
}

// The times of steps are of the last ones, and the longest of all.
func TestStepTimes(t *testing.T) {
	var l load
	for i := range 2000 {
		took := lockstep.Time(i%100 + 1)
		if i == 0 {
			took = 5000
		}
		l.step(&lockstep.Turn{}, "", false, 0)
		l.step(&lockstep.Turn{}, "", true, took)
	}
	if got, want := l.json().Step, (stepJSON{51, 100, 5000}); got.Longest != want.Longest || got.P99 < 99 || got.Median < 45 || got.Median > 55 {
		t.Errorf("got %+v, want about %+v", got, want)
	}
	if got := (&load{}).json(); got.Step != (stepJSON{}) || got.Late != (lateJSON{}) {
		t.Errorf("without a step: got %+v", got)
	}
}

// The longest step is told with its tick, its commands and its slowest phase; a later step as long does not replace it.
func TestLongestStep(t *testing.T) {
	var text strings.Builder
	to := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	var l load
	if l.log(to); text.Len() > 0 {
		t.Errorf("without a step: got %s", &text)
	}
	for tick, times := range [][3]lockstep.Time{{1, 2, 3}, {1, 5000, 20}, {2, 4000, 1019}} {
		turn := &lockstep.Turn{Tick: lockstep.Tick(tick + 1), Commands: make([]lockstep.Command, tick)}
		at := lockstep.Time(1000 * tick)
		if !l.step(turn, "", false, at) {
			t.Errorf("tick %d does not begin", tick)
		}
		l.step(turn, "move", false, at+times[0])
		l.step(turn, "fight", false, at+times[0]+times[1])
		l.step(turn, "", true, at+times[0]+times[1]+times[2])
	}
	l.log(to)
	if got, want := text.String(), "msg=\"longest step\" tick=2 ms=5.021 commands=1 phase=move phase_ms=5\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a match did while it was late is counted once, by cause.
func TestLateSeconds(t *testing.T) {
	m := newMetrics()
	var l load
	l.late[byStepping], l.late[byWaiting] = 3*lockstep.Second, lockstep.Second/2
	m.countLate(&l)
	m.countLate(&l)
	l.late[byStepping] += lockstep.Second
	m.countLate(&l)
	all, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	causes := 0
	for _, family := range all {
		if family.GetName() != "samestep_late_seconds_total" {
			continue
		}
		for _, x := range family.GetMetric() {
			causes++
			cause := x.GetLabel()[0].GetValue()
			if got, want := x.GetCounter().GetValue(), map[string]float64{"waiting": 0.5, "stepping": 4}[cause]; got != want {
				t.Errorf("%s: got %v s, want %v", cause, got, want)
			}
		}
	}
	if causes != int(activities) {
		t.Errorf("got %d causes, want %d", causes, activities)
	}
}

// The memory of matches is the sum of theirs, and that of the largest one.
func TestLargestMatch(t *testing.T) {
	var c census
	for _, state := range []int{10, 30, 20} {
		v := &Status{}
		v.memory.State, v.memory.Accounts = state, 1
		c.add(v)
	}
	if c.memory[0] != 60 || c.memory[7] != 3 || c.largest[0] != 30 || c.largest[7] != 1 {
		t.Errorf("got %v of all, %v of the largest", c.memory, c.largest)
	}
}
