package client

import "time"

// A turn is how long a session works before it lets others work. In a browser it has
// one thread, together with the page: while there is work, nothing would be drawn and
// no key heard. Elsewhere a turn has no end.
type turn struct {
	began time.Time
	until time.Time // of the rest
}

const (
	restTime = time.Millisecond
	idleTime = restTime / 2 // a wait that is as good as a rest
)

// over reports whether the session must rest now.
func (t *turn) over(now time.Time) bool {
	if turnTime == 0 || now.Sub(t.began) < turnTime {
		return false
	}
	if t.until.IsZero() {
		t.until = now.Add(restTime)
	}
	return true
}

// rest returns for how long.
func (t *turn) rest() time.Duration { return max(time.Until(t.until), time.Microsecond) }

// waited takes note of a wait for something to happen.
func (t *turn) waited(from, to time.Time) {
	if to.Sub(from) >= idleTime || !t.until.IsZero() {
		t.began, t.until = to, time.Time{}
	}
}
