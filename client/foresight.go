package client

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

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
