package client

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A timeslice is how long a session works before it rests. In a browser the session and the page share one thread:
// without rests, the page could neither draw nor handle a key. On other platforms a timeslice has no end.
type timeslice struct {
	began time.Time
	until time.Time // of the rest
}

const (
	restTime = time.Millisecond
	idleTime = restTime / 2 // a wait that is as good as a rest
)

// over reports whether the session must rest now.
func (t *timeslice) over(now time.Time) bool {
	if sliceTime == 0 || now.Sub(t.began) < sliceTime {
		return false
	}
	if t.until.IsZero() {
		t.until = now.Add(restTime)
	}
	return true
}

// rest returns for how long.
func (t *timeslice) rest() time.Duration { return max(time.Until(t.until), time.Microsecond) }

// waited begins a new timeslice after a rest, or after a wait that is as long.
func (t *timeslice) waited(from, to time.Time) {
	if to.Sub(from) >= idleTime || !t.until.IsZero() {
		t.began, t.until = to, time.Time{}
	}
}

// A foresight is how many ticks a session lets its client predict. In a browser the session and the page share one thread, and
// a prediction that begins again computes all of them at once. So a session whose client is busy for too long predicts
// fewer. On other platforms it predicts as many as its options say.
type foresight struct {
	most, now lockstep.Tick
	quick     int // times that the client was not busy for long
}

const (
	busyTime   = 30 * time.Millisecond // half of what a user notices, and more on a slower machine
	quickTimes = 300                   // after this many quick calls in a row the session tries one tick more
)

// took notes for how long the client was busy, and reports whether now has changed.
func (f *foresight) took(d time.Duration) bool {
	before := f.now
	switch {
	case f.most == 0:
		return false
	case d > busyTime:
		f.quick, f.now = 0, max(1, f.now/2)
	case d < busyTime/2:
		if f.quick++; f.quick == quickTimes {
			f.quick, f.now = 0, min(f.most, f.now+1)
		}
	}
	return f.now != before
}
