package server

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A delay is what the goroutine did in it, the latest first; what it did before the work was due does not count.
func TestLateness(t *testing.T) {
	const ms = lockstep.Millisecond
	var l load
	l.mark(byWaiting, 100*ms)
	l.step(true, 100*ms)
	l.step(false, 130*ms)
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
		l.step(true, 0)
		l.step(false, took)
	}
	if got, want := l.json().Step, (stepJSON{51, 100, 5000}); got.Longest != want.Longest || got.P99 < 99 || got.Median < 45 || got.Median > 55 {
		t.Errorf("got %+v, want about %+v", got, want)
	}
	if got := (&load{}).json(); got.Step != (stepJSON{}) || got.Late != (lateJSON{}) {
		t.Errorf("without a step: got %+v", got)
	}
}
