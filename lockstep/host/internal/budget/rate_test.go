package budget

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

func TestRate(t *testing.T) {
	r := Rate{N: 10, Per: lockstep.Second, Burst: 5}
	var b Bucket
	now := lockstep.Time(1 << 50)
	took := 0
	for range 100 {
		if b.Take(now, r, 1) {
			took++
		}
	}
	if took != 5 {
		t.Errorf("took %d at once, want 5", took)
	}
	for range 1000 { // ten seconds
		now += 10 * lockstep.Millisecond
		if b.Take(now, r, 1) {
			took++
		}
	}
	if took != 105 {
		t.Errorf("took %d in ten seconds, want 5 + 100", took)
	}
	if b.Take(now+1<<55, r, 6) {
		t.Error("took more than a burst")
	}
	if !b.Take(now+1<<55, r, 5) || b.Take(now+1<<55, r, 1) {
		t.Error("a full bucket has not its burst")
	}
}
