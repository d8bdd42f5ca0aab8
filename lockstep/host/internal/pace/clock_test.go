package pace

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// With odd periods, ticks are due at the times that exact arithmetic gives, for a year.
func TestClock(t *testing.T) {
	c := newClock(33_333)
	c.set(70)
	c.restart(7)
	for _, n := range []int64{0, 1, 2, 29, 30 * 3600 * 24 * 365} {
		c.move(7, n)
		if got, want := c.due, 7+lockstep.Time((n+1)*3_333_300/70); got != want {
			t.Errorf("tick %d is due at %d, want %d", n+1, got, want)
		}
	}
	c.move(7, 30)
	c.set(200)
	if got, want := c.due, lockstep.Time(7+30*3_333_300/70+33_333/2); got != want {
		t.Errorf("at double speed the next is due at %d, want %d", got, want)
	}
}
