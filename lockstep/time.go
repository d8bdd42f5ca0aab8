package lockstep

// Time is a moment on the caller's clock, in microseconds from any start; a span of time is the difference of two. The
// clock must not go backwards: a moment before the one given last counts as that one.
type Time int64

// Units of [Time].
const (
	Millisecond Time = 1000
	Second           = 1000 * Millisecond
)

// Milliseconds returns a span of time, rounded down.
func (t Time) Milliseconds() int64 { return int64(t / Millisecond) }
