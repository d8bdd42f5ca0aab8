package record

// Time is a moment on the caller's clock, or a duration, in microseconds. The origin is arbitrary. The clock must not
// go backwards: an earlier moment counts as the last one given.
type Time int64

// Units of [Time].
const (
	Millisecond Time = 1000
	Second           = 1000 * Millisecond
)

// Milliseconds returns a duration in milliseconds, rounded down.
func (t Time) Milliseconds() int64 { return int64(t / Millisecond) }
