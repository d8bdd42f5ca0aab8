package playout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The peak is the second worst of the window, whatever enters and leaves it.
func TestPeak(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int64{1, 3, 40, 100_000} {
		var j jitter
		for i := range lockstep.Time(3000) {
			j.add(i*sameBurst, lockstep.Time(r.Int64N(most)), lockstep.Second)
			all := j.recent
			slices.Sort(all[:])
			if want := all[len(all)-2]; j.peak != want {
				t.Fatalf("up to %d, burst %d: got a peak of %d, want %d", most, i, j.peak, want)
			}
		}
	}
}
