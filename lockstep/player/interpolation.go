package player

import (
	"math/bits"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Fraction is a part of the time between two ticks, 0 to [One]. Beyond One it is a time after both: see Options.Extrapolate.
type Fraction uint32

const fractionBits = 16

// One is the whole of a Fraction.
const One Fraction = 1 << fractionBits

// An Interpolation is the input of a renderer: two states of the match, one tick apart, and how much of the time between them has
// passed. Both are read-only: a renderer that writes to one desyncs this client (see [Client.Render]). It is valid
// until the next call of the client.
type Interpolation struct {
	Previous  *lockstep.Simulation
	Current   *lockstep.Simulation
	Fraction  Fraction
	Predicted bool // the states are ahead of the confirmed one: see Options.Predict and Options.PredictLate
}

// Lerp returns the value at a fraction of the way from a to b, rounded towards a. It is exact for all integers, and so
// for fixed-point numbers. Beyond One it goes on in a straight line, and wraps around as integers do.
func Lerp[T ~int8 | ~int16 | ~int32 | ~int64](a, b T, f Fraction) T {
	if b < a {
		return T(int64(a) - part(uint64(int64(a))-uint64(int64(b)), f))
	}
	return T(int64(a) + part(uint64(int64(b))-uint64(int64(a)), f))
}

// LerpTurn is Lerp for angles: the type's whole range is one turn, and the shorter way is taken.
func LerpTurn[T ~uint8 | ~uint16 | ~uint32](a, b T, f Fraction) T {
	if way := b - a; way <= ^T(0)/2 {
		return a + T(part(uint64(way), f))
	}
	return a - T(part(uint64(a-b), f))
}

func part(distance uint64, f Fraction) int64 {
	hi, lo := bits.Mul64(distance, uint64(f))
	return int64(hi<<(64-fractionBits) | lo>>fractionBits)
}
