package logbench

import (
	"slices"
	"time"
)

// A Figure is the ratio of the times of two sides. Limit is what it should not
// exceed.
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
	ratios []float64
}

// Start prepares the measurement of a figure, which takes a second or two.
func (f *Figure) Start() (*Run, error) {
	s, err := f.sides()
	if err != nil {
		return nil, err
	}
	return &Run{sides: s, part: s.parts}, nil
}

// Round measures one part on both sides, the one before the other in turns. The
// first rounds, up to where every part has been run once, do not count.
func (r *Run) Round() error {
	if r.part == r.sides.parts {
		if err := r.sides.reset(); err != nil {
			return err
		}
		r.part = 0
	}
	var took [2]float64
	work := [2]func(int) error{r.sides.first, r.sides.second}
	for i := range work {
		side := (i + r.rounds + r.rounds/r.sides.parts) % 2
		from := time.Now()
		if err := work[side](r.part); err != nil {
			return err
		}
		took[side] = float64(time.Since(from).Nanoseconds())
	}
	r.part++
	r.rounds++
	if r.rounds > r.sides.parts || r.sides.parts == 1 {
		r.ratios = append(r.ratios, took[0]/took[1])
	}
	return nil
}

// Ratio returns the median over the rounds, or 0 before there is any.
func (r *Run) Ratio() float64 {
	if len(r.ratios) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.ratios))
	return sorted[len(sorted)/2]
}

// Measure measures a figure for about as long as d, with at least one round that
// counts.
func (f *Figure) Measure(d time.Duration) (*Run, error) {
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	for from := time.Now(); len(r.ratios) == 0 || time.Since(from) < d; {
		if err := r.Round(); err != nil {
			return nil, err
		}
	}
	return r, nil
}
