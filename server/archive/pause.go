//go:build !js

package archive

import (
	"context"
	"math/rand/v2"
	"time"
)

// A pause is the time until the next attempt: longer and longer after failures.
type pause struct{ first, longest, now time.Duration }

func (p *pause) reset() { p.now = 0 }

func (p *pause) next() time.Duration {
	p.now = min(max(2*p.now, p.first), p.longest)
	return p.now/2 + rand.N(p.now/2+1)
}

// sleep waits for a time, or for a value on wake, which may be nil.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// Time limits of what the archive asks of the store, so that one that hangs counts as one that is away.
const (
	askTime  = time.Minute // of a request without a replay in it, and of the next answer in a list
	slowest  = 64 << 10    // bytes per second of a file
	userTime = 10 * time.Second
)

// timeFor is how long a request that moves some bytes may take.
func timeFor(sizeBytes int64) time.Duration {
	return askTime + time.Duration(sizeBytes/slowest)*time.Second
}

// within returns the context of a request that moves some bytes.
func within(ctx context.Context, sizeBytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, timeFor(sizeBytes))
}
