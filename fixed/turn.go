package fixed

import "math/bits"

// Turn is an angle as a fraction of a full turn, v / 2^32, counter-clockwise from +X. It wraps by itself: native + and -
// are right for every pair.
type Turn uint32

// A quarter and a half of a turn.
const (
	QuarterTurn Turn = 1 << 30
	HalfTurn    Turn = 1 << 31
)

// Degrees returns an angle in degrees as a Turn, rounded to nearest, ties to even; full turns drop out.
func Degrees(d Q) Turn {
	whole := d.Mod(360 * One)
	return Turn(MulDiv(whole, One, 360*One))
}

// FractionBits returns 32. Package state finds it by reflection, so that a tool without this type prints 0.25.
func (Turn) FractionBits() uint8 { return 32 }

// Diff returns the shortest signed way from t to the other: t + Turn(t.Diff(to)) == to. Half a turn is negative.
func (t Turn) Diff(to Turn) int32 { return int32(to - t) }

// Toward returns t turned towards target on the shorter way, by at most limit.
func (t Turn) Toward(target, limit Turn) Turn {
	switch d := target - t; {
	case d <= limit || -d <= limit:
		return target
	case d < HalfTurn:
		return t + limit
	default:
		return t - limit
	}
}

// Sin returns the sine of t.
func (t Turn) Sin() Q {
	r := uint32(t) & (1<<30 - 1)
	var m Q
	if t>>30&1 == 0 {
		m = sinQuarter(r)
	} else {
		m = cosQuarter(r)
	}
	if t >= HalfTurn {
		return -m
	}
	return m
}

// Cos returns the cosine of t.
func (t Turn) Cos() Q { return (t + QuarterTurn).Sin() }

// SinCos returns the same as Sin and Cos.
func (t Turn) SinCos() (sin, cos Q) { return t.Sin(), t.Cos() }

// Tan returns sine/cosine of t, saturating at the poles.
func (t Turn) Tan() Q {
	s, c := t.SinCos()
	return s.Div(c)
}

const (
	quarterPi = 0xc90fdaa22168c235 // π/4 · 2^64
	twoPi     = 0xc90fdaa22168c235 // 2π · 2^61
	perRadian = 0x28be60db9391054b // 1/2π · 2^64
)

// sinQuarter returns the sine of r / 2^30 quarters.
func sinQuarter(r uint32) Q {
	if r <= 1<<29 {
		return Q((sin64(arc(r)) + 1<<31) >> 32)
	}
	return One - Q((versin64(arc(1<<30-r))+1<<31)>>32)
}

// cosQuarter returns the cosine of r / 2^30 quarters.
func cosQuarter(r uint32) Q {
	if r <= 1<<29 {
		return One - Q((versin64(arc(r))+1<<31)>>32)
	}
	return Q((sin64(arc(1<<30-r)) + 1<<31) >> 32)
}

// arc returns r / 2^30 quarters in radians · 2^64, for r ≤ 2^29.
func arc(r uint32) uint64 {
	hi, lo := bits.Mul64(uint64(r)<<34, quarterPi)
	return hi<<1 | lo>>63
}

func mulHigh(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

// sin64 returns the sine of z by its series; all numbers are fractions · 2^64, z ≤ π/4.
func sin64(z uint64) uint64 {
	zz := mulHigh(z, z)
	var s uint64
	for i := len(inverseFactorials)/2 - 1; i >= 1; i-- {
		s = inverseFactorials[2*i+1] - mulHigh(zz, s)
	}
	return z - mulHigh(z, mulHigh(zz, s))
}

// versin64 returns 1 - cosine of z, like sin64.
func versin64(z uint64) uint64 {
	zz := mulHigh(z, z)
	var s uint64
	for i := len(inverseFactorials)/2 - 1; i >= 1; i-- {
		s = inverseFactorials[2*i] - mulHigh(zz, s)
	}
	return mulHigh(zz, s)
}

// inverseFactorials[n] is 2^64/n! for n ≥ 2.
var inverseFactorials = [22]uint64{
	2: 1 << 63, 3: 1 << 63 / 3, 4: 1 << 61 / 3, 5: 1 << 61 / 15, 6: 1 << 60 / 45, 7: 1 << 60 / 315,
	8: 1 << 57 / 315, 9: 1 << 57 / 2835, 10: 1 << 56 / 14175, 11: 1 << 56 / 155925, 12: 1 << 54 / 467775,
	13: 1 << 54 / 6081075, 14: 1 << 53 / 42567525, 15: 1 << 53 / 638512875, 16: 1 << 49 / 638512875,
	17: 1 << 49 / 10854718875, 18: 1 << 48 / 97692469875, 19: 1 << 48 / 1856156927625, 20: 1 << 46 / 9280784638125,
	21: 1 << 46 / 194896477400625,
}
