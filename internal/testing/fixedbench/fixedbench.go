// Package fixedbench times every operation of package fixed and the same operation on float64 in one run. Only the ratio
// of the two means anything on another machine. go test -bench and samestep bench fixed run the same bodies.
//
//	for _, p := range fixedbench.Pairs {
//		r := p.Measure(20, 50_000)
//		fmt.Println(p.Name, r.Ratio())
//	}
package fixedbench

import (
	"math"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/fixed"
)

// A Pair is an operation of package fixed and the same operation on float64. Each body runs it n times, on a fixed set
// of inputs of the size that games use (positions within ±1024 cells). It adds up or stores the results, so that the
// compiler drops none.
type Pair struct {
	Name         string
	Fixed, Float func(n int)
}

// A Result is the median time of one operation.
type Result struct{ FixedNS, FloatNS float64 }

// Ratio returns the time of the fixed operation divided by that of the float operation.
func (r Result) Ratio() float64 { return r.FixedNS / r.FloatNS }

// Measure runs both bodies in turn, rounds times n operations each, and returns the medians.
func (p Pair) Measure(rounds, n int) Result {
	fixedNS, floatNS := make([]float64, rounds), make([]float64, rounds)
	for range 3 { // an idle core needs a while to reach its full clock rate
		p.Fixed(n)
		p.Float(n)
	}
	for i := range rounds {
		fixedNS[i] = timed(p.Fixed, n)
		floatNS[i] = timed(p.Float, n)
	}
	slices.Sort(fixedNS)
	slices.Sort(floatNS)
	return Result{fixedNS[rounds/2], floatNS[rounds/2]}
}

// timed returns the nanoseconds of one of n operations.
func timed(body func(int), n int) float64 {
	start := time.Now()
	body(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

const mask = 1023

// The inputs and results of the bodies: the float ones are the same numbers.
var (
	qs, rs       [mask + 1]fixed.Q // -1024..1024
	pos          [mask + 1]fixed.Q // 0..1024, never 0
	small        [mask + 1]fixed.Q // -16..16
	turns        [mask + 1]fixed.Turn
	fs, gs, fpos [mask + 1]float64
	fsmall, arcs [mask + 1]float64
	sinkQ        fixed.Q
	sinkF        float64
	outBool      [mask + 1]bool
	outVec       [mask + 1]fixed.Vec2
	outVecF      [mask + 1]vec2
)

type vec2 struct{ x, y float64 }

func init() {
	r := fixed.NewRand(1)
	for i := range qs {
		qs[i], rs[i] = r.Range(-1024*fixed.One, 1024*fixed.One), r.Range(-1024*fixed.One, 1024*fixed.One)
		pos[i], small[i] = r.Range(1, 1024*fixed.One), r.Range(-16*fixed.One, 16*fixed.One)
		turns[i] = fixed.Turn(r.Uint32())
		fs[i], gs[i] = float(qs[i]), float(rs[i])
		fpos[i], fsmall[i] = float(pos[i]), float(small[i])
		arcs[i] = float64(turns[i]) * (2 * math.Pi / (1 << 32))
	}
}

func float(x fixed.Q) float64 { return float64(x) / (1 << 32) }
