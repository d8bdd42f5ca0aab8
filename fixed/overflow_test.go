package fixed_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// TestOverflow: with the build tag samestep_overflow these panic, without it they saturate.
//
//	go test -tags samestep_overflow ./fixed
func TestOverflow(t *testing.T) {
	const one, minQ, maxQ = fixed.One, fixed.MinQ, fixed.MaxQ
	far := fixed.Vec2{X: maxQ, Y: maxQ}
	for name, overflow := range map[string]func(){
		"Add":     func() { maxQ.Add(1) },
		"Sub":     func() { minQ.Sub(1) },
		"Mul":     func() { maxQ.Mul(2 * one) },
		"Div":     func() { one.Div(0) },
		"MulDiv":  func() { fixed.MulDiv(maxQ, 2, 1) },
		"FromInt": func() { fixed.FromInt(1 << 31) },
		"Abs":     func() { minQ.Abs() },
		"Ceil":    func() { maxQ.Ceil() },
		"Round":   func() { maxQ.Round() },
		"Lerp":    func() { fixed.Lerp(0, maxQ, 2*one) },
		"Hypot":   func() { fixed.Hypot(maxQ, maxQ) },
		"RSqrt":   func() { fixed.RSqrt(0) },
		"Tan":     func() { fixed.QuarterTurn.Tan() },
		"Exp2":    func() { fixed.Exp2(31 * one) },
		"Log2":    func() { fixed.Log2(0) },
		"Pow":     func() { fixed.Pow(100*one, 100*one) },
		"Dot":     func() { far.Dot(far) },
		"Len":     func() { far.Len() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover() != nil; got != fixed.PanicOnOverflow {
					t.Errorf("panicked: %t, want %t", got, fixed.PanicOnOverflow)
				}
			}()
			overflow()
		})
	}
}

// TestNoFalseOverflow: a result just within the range is no overflow.
func TestNoFalseOverflow(t *testing.T) {
	const one, minQ, maxQ = fixed.One, fixed.MinQ, fixed.MaxQ
	for i, row := range []struct{ got, want fixed.Q }{
		{minQ.Mul(one), minQ}, {fixed.MulNarrow(minQ, one), minQ}, {minQ.Div(one), minQ}, {maxQ.Div(-one), -maxQ},
		{fixed.MulDiv(minQ, one, one), minQ}, {fixed.Lerp(minQ, maxQ, one), maxQ}, {fixed.Hypot(maxQ, 0), maxQ},
		{minQ.Floor(), minQ}, {minQ.Round(), minQ}, {fixed.FromInt(-1 << 31), minQ}, {(maxQ - one).Ceil(), maxQ &^ (one - 1)},
		{fixed.Vec2{X: minQ, Y: 0}.Dot(fixed.Vec2{X: one}), minQ},
		{fixed.Vec2{X: 0, Y: minQ}.Cross(fixed.Vec2{X: -one}), minQ},
		{fixed.Vec2{X: minQ, Y: minQ}.Normalize().X, -3037000500},
	} {
		if row.got != row.want {
			t.Errorf("row %d: got %d, want %d", i, row.got, row.want)
		}
	}
}
