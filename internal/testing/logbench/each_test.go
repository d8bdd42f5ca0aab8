package logbench

import (
	"slices"
	"testing"
	"time"
)

// Both loops compute the same, and something that goes on: else there is nothing to compare.
func TestCompareLoops(t *testing.T) {
	for _, n := range []int{1000, 10_000} {
		l, err := CompareLoops(n, 20*time.Millisecond)
		if err != nil || l.Plain <= 0 || l.Plain >= time.Minute || l.Each >= time.Minute || l.Speedup() <= 0 {
			t.Errorf("%d elements: got %+v, %v", n, l, err)
			continue
		}
		t.Logf("%d elements: a plain loop %v, Each %v", n, l.Plain, l.Each)
	}
	f := flock{make([]int32, 100), make([]int32, 100)}
	for range 3 {
		for i := range f.now {
			f.bird(i, nil)
		}
		if slices.Equal(f.now, f.next) {
			t.Fatal("the birds do not move")
		}
		f.now, f.next = f.next, f.now
	}
}
