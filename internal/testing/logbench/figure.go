package logbench

import (
	"runtime"
	"time"
)

// A Figure is the ratio of the times of two sides. Limit is what it should not
// exceed, 0 where there is no such promise.
type Figure struct {
	Name   string
	Beside string // the second side, in words
	Limit  float64

	sides func() (*sides, error)
}

// Sides are what takes turns. Each call of first and second does one part of
// the work, the same part on both sides; reset begins it anew, untimed.
type sides struct {
	parts         int
	reset         func() error
	first, second func(part int) error
}

// A Run is a figure being measured.
type Run struct {
	sides  *sides
	part   int
	rounds int
	best   [2][]float64 // of each part on each side, in nanoseconds; 0 before there is one
}

// Start prepares the measurement of a figure, which takes a second or two.
func (f *Figure) Start() (*Run, error) {
	s, err := f.sides()
	if err != nil {
		return nil, err
	}
	r := &Run{sides: s, part: s.parts}
	for side := range r.best {
		r.best[side] = make([]float64, s.parts)
	}
	return r, nil
}

// Round measures the next part on both sides, the one before the other in turns.
func (r *Run) Round() error {
	if r.part == r.sides.parts {
		if err := r.sides.reset(); err != nil {
			return err
		}
		r.part = 0
	}
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	work := [2]func(int) error{r.sides.first, r.sides.second}
	for i := range work {
		side := (i + r.rounds + r.rounds/r.sides.parts) % 2
		from := clock()
		if err := work[side](r.part); err != nil {
			return err
		}
		took := max(1, float64((clock() - from).Nanoseconds()))
		if best := &r.best[side][r.part]; *best == 0 || took < *best {
			*best = took
		}
	}
	r.part++
	r.rounds++
	return nil
}

// Ratio returns the ratio of the times of both sides, each the sum of the best
// times of the parts: a part does the same work every time, so whatever it took
// longer was somebody else's work.
func (r *Run) Ratio() float64 {
	var sums [2]float64
	for side := range r.best {
		for _, best := range r.best[side] {
			sums[side] += best
		}
	}
	return sums[0] / max(1, sums[1])
}

// Measure measures a figure for about as long as d, and every part at least
// twice.
func (f *Figure) Measure(d time.Duration) (*Run, error) {
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	for from := time.Now(); r.rounds < 2*r.sides.parts || time.Since(from) < d; {
		if err := r.Round(); err != nil {
			return nil, err
		}
	}
	return r, nil
}
