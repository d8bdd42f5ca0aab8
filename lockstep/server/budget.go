package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBudgets is how many keys a table of budgets keeps.
const maxBudgets = 1 << 16

// budgets are what each of many keys, such as addresses, may spend: burst at once,
// and then so much in each span. The table is bounded. It has two generations: a key
// that was not used since the last two turns is forgotten, which is no loss after a
// span, since its budget is full again. Many new keys make it turn earlier.
type budgets[K comparable] struct {
	burst int
	span  time.Duration // in which a spent budget is full again

	mu         sync.Mutex
	young, old map[K]*rate.Limiter
	turned     time.Time
}

func newBudgets[K comparable](burst int, span time.Duration) *budgets[K] {
	return &budgets[K]{burst: burst, span: span, young: make(map[K]*rate.Limiter)}
}

// spend takes n of a key's budget, or reports false if there is less.
func (b *budgets[K]) spend(k K, n int, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(k, now).AllowN(now, n)
}

// wait takes n of a key's budget, at most all of it, and returns how long whoever
// spends it must wait before that.
func (b *budgets[K]) wait(k K, n int, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(k, now).ReserveN(now, min(n, b.burst)).DelayFrom(now)
}

// upTo takes up to n of a key's budget, and returns how much.
func (b *budgets[K]) upTo(k K, n int, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.of(k, now)
	n = min(n, max(0, int(l.TokensAt(now))))
	l.AllowN(now, n)
	return n
}

// of returns the limiter of a key. The lock is held.
func (b *budgets[K]) of(k K, now time.Time) *rate.Limiter {
	if len(b.young) >= maxBudgets/2 || now.Sub(b.turned) > b.span {
		b.old, b.young, b.turned = b.young, make(map[K]*rate.Limiter), now
	}
	l := b.young[k]
	if l == nil {
		if l = b.old[k]; l == nil {
			l = rate.NewLimiter(rate.Limit(float64(b.burst)/b.span.Seconds()), b.burst)
		}
		b.young[k] = l
	}
	return l
}
