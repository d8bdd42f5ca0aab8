package client

import "time"

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
