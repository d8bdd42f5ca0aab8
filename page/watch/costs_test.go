package watch_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/page/watch"
)

// tickingClock returns a clock that goes on by 3 µs at each look.
func tickingClock() func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time { at = at.Add(3 * time.Microsecond); return at }
}

// The times of the clock go to the phases and columns of the ticks, each time that one is simulated.
func TestCosts(t *testing.T) {
	t.Parallel()
	v := open(t, "duel")
	if at(t, v, v.First()+5); v.Costs(0) != nil {
		t.Error("got costs without a clock")
	}
	v.Measure(tickingClock())
	at(t, v, v.First()+25)
	c := v.Costs(0)
	if c == nil || c.Ticks != 20 || len(c.Phases) < 2 || c.Phases[0].Name != "" || v.Costs(20) != nil || v.Costs(19) == nil {
		t.Fatalf("got %.200v", c)
	}
	last := 25 * len(c.Counts) / int(v.Last()-v.First())
	ticks, all := 0, 0.0
	for i, n := range c.Counts {
		if ticks += n; n > 0 && i > last {
			t.Errorf("got ticks in column %d, want at most %d", i, last)
		}
		for _, x := range c.Phases {
			if all += x.US[i]; x.US[i] != float64(3*n) {
				t.Errorf("%s: got %v µs of %d ticks in column %d", x.Name, x.US[i], n, i)
			}
		}
	}
	if ticks != 20 || all != float64(20*3*len(c.Phases)) {
		t.Errorf("got %d ticks with %v µs", ticks, all)
	}
}

func ExampleViewer_Costs() {
	var tb testing.T
	v := open(&tb, "duel")
	v.Measure(tickingClock())
	at(&tb, v, v.First()+10)
	var c *watch.Costs = v.Costs(0)
	var orders watch.CostsOf = c.Phases[1]
	fmt.Println(c.Ticks, "ticks, of which the first took", orders.US[0]/float64(c.Counts[0]), "µs for", orders.Name)
	// Output:
	// 10 ticks, of which the first took 3 µs for orders
}
