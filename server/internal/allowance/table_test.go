package allowance

import (
	"testing"
	"time"
)

// A budget is spent, refills over its period, and belongs to one key. The table keeps a bounded number of keys, and
// forgets none that is in use.
func TestBudgets(t *testing.T) {
	now := time.Unix(1000, 0)
	b := New[int](20, time.Minute)
	spent := func(key int) (n int) {
		for b.Spend(key, 1, now) {
			n++
		}
		return n
	}
	for _, x := range []struct {
		wait time.Duration
		want int
	}{{0, 20}, {0, 0}, {2 * time.Second, 0}, {time.Second, 1}, {30 * time.Second, 10}, {time.Minute, 20}, {time.Hour, 20}} {
		now = now.Add(x.wait)
		if got := spent(1); got != x.want {
			t.Errorf("after %v: got %d, want %d", x.wait, got, x.want)
		}
	}
	if got := spent(2); got != 20 {
		t.Errorf("another key: got %d, want 20", got)
	}
	for key := range 3 * MaxKeys { // no time passes
		b.Spend(key+10, 1, now)
		if key%(MaxKeys/4) == 0 && b.Spend(1, 1, now) {
			t.Fatalf("after %d other keys a spent budget is full", key)
		}
		if n := len(b.young) + len(b.old); n > MaxKeys {
			t.Fatalf("got %d keys, want at most %d", n, MaxKeys)
		}
	}
	if b.Spend(2, 21, now) {
		t.Error("more than the budget was spent at once")
	}
}
