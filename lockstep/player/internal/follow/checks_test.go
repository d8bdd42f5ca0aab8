package follow

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The latest checks are kept by tick, with the first players that differ. An old one takes no place of a later one.
func TestChecks(t *testing.T) {
	var c Run
	const every = 5
	for tick := lockstep.Tick(5); tick <= 100; tick += every {
		c.checks.match(tick, every, uint64(tick))
		c.checks.compared(tick, every, uint64(tick)+1)
	}
	c.checks.differs(95, every, Differing{1, 7})
	c.checks.differs(95, every, Differing{1, 8}) // only the first one counts
	c.checks.differs(50, every, Differing{1, 9}) // too late
	for p := range lockstep.Player(200) {
		c.checks.differs(100, every, Differing{p, 1})
	}
	all := c.Checks()
	if len(all) != keptChecks || all[0].Tick != 65 {
		t.Fatalf("got %d checks, the first of tick %d, want %d from tick 65 on", len(all), all[0].Tick, keptChecks)
	}
	for i, k := range all {
		want := fmt.Sprint(65+every*i, 66+every*i, 65+every*i)
		if got := fmt.Sprint(k.Tick, k.Ours, k.Match); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := fmt.Sprint(all[6].Differing, len(all[7].Differing)); got != fmt.Sprint("[{1 7}] ", keptDiffering) {
		t.Errorf("the players that differ: got %s", got)
	}
}
