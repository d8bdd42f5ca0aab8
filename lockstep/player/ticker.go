package player

import "github.com/seed-49bee653/samestep/lockstep"

// maxGap bounds how far the client's clock moves at a time. It is longer than the time between two calls (see Ready),
// and shorter than the silence that ends a connection: a machine that slept first reads the bytes that have arrived.
const maxGap = 2 * lockstep.Second

// A ticker makes a clock of our own from the caller's times.
type ticker struct {
	now     lockstep.Time // the caller's
	clock   lockstep.Time // our own: without jumps
	gap     lockstep.Time // since the call before
	started bool
}

// tickClock takes the caller's time.
func (t *ticker) tickClock(now lockstep.Time) {
	if !t.started {
		t.started, t.now = true, now
	}
	t.gap = now - t.now
	t.clock += min(max(0, t.gap), maxGap)
	t.now = now
}
