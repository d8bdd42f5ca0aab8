package allowance

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// MaxKeys is the number of keys that a table of budgets keeps.
const MaxKeys = 1 << 16

// A Table limits what each key, such as an address, may spend: burst at once, refilled evenly over a period. The table
// has a bounded size. It has two generations and drops the older one after a period, or earlier when the younger one is
// full. A key that is dropped after an idle period loses nothing, because its budget is full again.
type Table[K comparable] struct {
	burst  int
	period time.Duration // in which an empty budget refills

	mu         sync.Mutex
	young, old map[K]*rate.Limiter
	rotated    time.Time
}

// New returns a Table with full budgets.
func New[K comparable](burst int, period time.Duration) *Table[K] {
	return &Table[K]{burst: burst, period: period, young: make(map[K]*rate.Limiter)}
}

// Spend takes n of a key's budget, or reports false if less is left.
func (b *Table[K]) Spend(k K, n int, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limiter(k, now).AllowN(now, n)
}

// Wait takes n of a key's budget, at most burst, and returns how long the caller must wait before it spends them.
func (b *Table[K]) Wait(k K, n int, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limiter(k, now).ReserveN(now, min(n, b.burst)).DelayFrom(now)
}

// UpTo takes at most n of a key's budget, and returns how much it took.
func (b *Table[K]) UpTo(k K, n int, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.limiter(k, now)
	n = min(n, max(0, int(l.TokensAt(now))))
	l.AllowN(now, n)
	return n
}

// Resize changes the burst. What is spent stays spent.
func (b *Table[K]) Resize(burst int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.burst = burst
	for _, table := range []map[K]*rate.Limiter{b.young, b.old} {
		for _, l := range table {
			l.SetLimitAt(now, rate.Limit(float64(burst)/b.period.Seconds()))
			l.SetBurstAt(now, burst)
		}
	}
}

// Spent returns how much of a key's budget is spent, in percent, rounded up.
func (b *Table[K]) Spent(k K, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.young[k]
	if l == nil {
		l = b.old[k]
	}
	if l == nil {
		return 0
	}
	return int(math.Ceil(100 - 100*l.TokensAt(now)/float64(b.burst)))
}

// limiter returns the limiter of a key. The caller holds the lock.
func (b *Table[K]) limiter(k K, now time.Time) *rate.Limiter {
	if len(b.young) >= MaxKeys/2 || now.Sub(b.rotated) > b.period {
		b.old, b.young, b.rotated = b.young, make(map[K]*rate.Limiter), now
	}
	l := b.young[k]
	if l == nil {
		if l = b.old[k]; l == nil {
			l = rate.NewLimiter(rate.Limit(float64(b.burst)/b.period.Seconds()), b.burst)
		}
		b.young[k] = l
	}
	return l
}
