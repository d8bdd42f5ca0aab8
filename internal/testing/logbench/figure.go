package logbench

import (
	"runtime"
	"time"
)

// A Figure is the ratio of the times of two sides.
type Figure struct {
	Name   string
	Beside string  // the second side, in words
	Limit  float64 // the promised maximum; 0: none

	sides func() (*sides, error)
}

// sides alternate. Each call of first and second does the same part of the work. reset
// starts the work again and is not timed.
type sides struct {
	measured      string // what the work is, in words
	parts         int
	reset         func() error
	first, second func(part int) error
}

// A Run is the measurement of a figure.
type Run struct {
	sides  *sides
	part   int
	rounds int
	best   [2][]float64 // time of each part on each side, in nanoseconds; 0: not measured yet
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

// Measured says what both sides did in a round: ticks, commands, and units if they are
// counted.
func (r *Run) Measured() string { return r.sides.measured }

// Round measures the next part on both sides, and alternates which side is first.
func (r *Run) Round() error {
	if r.part == r.sides.parts {
		if err := r.sides.reset(); err != nil {
			return err
		}
		r.part = 0
	}
	defer lockThread()()
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

// lockThread locks the goroutine to its thread, for clock, and returns the function that
// unlocks it.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// Ratio returns the ratio of the times of both sides. Each is the sum of the best times
// of the parts: a part always does the same work, so it only takes longer because of
// other load on the machine.
func (r *Run) Ratio() float64 {
	var sums [2]float64
	for side := range r.best {
		for _, best := range r.best[side] {
			sums[side] += best
		}
	}
	return sums[0] / max(1, sums[1])
}

// Measure measures a figure for about d, and each part at least twice.
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
