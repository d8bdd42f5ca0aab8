package fixed

import "math/bits"

// Atan2 returns the direction of the vector (x, y); the one of (0, 0) is 0.
func Atan2(y, x Q) Turn {
	a := atan2(y, x)
	return Turn((a + 1<<31) >> 32)
}

// Atan2Radians returns the direction of the vector (x, y) in radians, -π..π.
func Atan2Radians(y, x Q) Q {
	a := atan2(y, x)
	negative := y < 0
	if negative {
		a = -a
	}
	hi, _ := bits.Mul64(a, twoPi) // radians · 2^125
	return signed((hi+1<<28)>>29, negative)
}

// atan2 returns the direction in turns · 2^64.
func atan2(y, x Q) uint64 {
	ay, ax := magnitude(int64(y)), magnitude(int64(x))
	var a uint64
	switch {
	case ay == ax && ax == 0:
		return 0
	case ay < ax:
		q, _ := bits.Div64(ay, 0, ax)
		a = atan64(q)
	case ay == ax:
		a = 1 << 61
	default:
		q, _ := bits.Div64(ax, 0, ay)
		a = 1<<62 - atan64(q)
	}
	if x < 0 {
		a = 1<<63 - a
	}
	if y < 0 {
		a = -a
	}
	return a
}

// atan64 returns the arc tangent of r / 2^64 in turns · 2^64: a first guess t, then the series for what is left,
// (r·cos t - sin t) / (cos t + r·sin t).
func atan64(r uint64) uint64 {
	t := uint32(mulHigh(r, 1<<61+mulHigh(^r, 0x0b20<<48)) >> 32) // 1/8 + 0.0434·(1-r), good to 0.004 radians
	z := arc(t)
	s, v := sin64(z), versin64(z)
	// numerator and denominator · 2^62
	num := int64(r>>2-mulHigh(r, v)>>2) - int64(s>>2)
	den := 1<<62 - v>>2 + mulHigh(r, s)>>2
	negative := num < 0
	d, _ := bits.Div64(magnitude(num), 0, den)
	dd := mulHigh(d, d)
	d -= mulHigh(d, mulHigh(dd, 1<<63/3*2-mulHigh(dd, 1<<63/5*2)))
	d = mulHigh(d, perRadian)
	if negative {
		return uint64(t)<<32 - d
	}
	return uint64(t)<<32 + d
}

// Asin returns the angle in -1/4..1/4 turn whose sine is x; x is limited to -1..1.
func Asin(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(x<<30, Q(ISqrt128(mul60(One-x, One+x))))
}

// Acos returns the angle in 0..1/2 turn whose cosine is x; x is limited to -1..1.
func Acos(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(Q(ISqrt128(mul60(One-x, One+x))), x<<30)
}

// mul60 returns a·b·2^60, for a and b of 0..2·One.
func mul60(a, b Q) (hi, lo uint64) { return bits.Mul64(uint64(a)<<30, uint64(b)<<30) }
