package logbench

import (
	"errors"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Loops are the quickest times of one loop over all elements. Others on the machine make it longer only.
type Loops struct{ Plain, Each time.Duration }

// Speedup is how many times faster Each was.
func (l *Loops) Speedup() float64 { return float64(l.Plain) / float64(max(l.Each, 1)) }

// A flock is n birds, of which each turns to those around it: some 100 ns of work for a bird, which reads all and writes its own.
type flock struct{ now, next []int32 }

const around = 64

func (f *flock) bird(i int, _ *lockstep.Turn) {
	sum := int32(0)
	for k := 1; k <= around; k++ {
		at := i + k
		if at >= len(f.now) {
			at -= len(f.now)
		}
		sum += (f.now[at] - f.now[i]) / 8
	}
	f.next[i] = f.now[i] + sum/around + int32(i%7)
}

// CompareLoops measures [lockstep.Turn.Each] and a plain loop of the same work in turns, for about d, by the time that passes. It needs
// more than 64 elements.
func CompareLoops(n int, d time.Duration) (*Loops, error) {
	plain, each := flock{make([]int32, n), make([]int32, n)}, flock{make([]int32, n), make([]int32, n)}
	var turn lockstep.Turn
	l := &Loops{time.Hour, time.Hour}
	for round, begun := 0, time.Now(); round < 20 || time.Since(begun) < d; round++ {
		from := time.Now()
		for i := range plain.now {
			plain.bird(i, &turn)
		}
		to := time.Now()
		turn.Each(n, each.bird)
		l.Plain, l.Each = min(l.Plain, to.Sub(from)), min(l.Each, time.Since(to))
		if !slices.Equal(plain.next, each.next) {
			return nil, errors.New("logbench: Each computes something else than a plain loop")
		}
		plain.now, plain.next = plain.next, plain.now
		each.now, each.next = each.next, each.now
	}
	return l, nil
}
