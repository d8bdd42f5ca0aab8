package fixed

import "math/bits"

// Atan2 returns the direction of the vector (x, y); the one of (0, 0) is 0.
func Atan2(y, x Q) Turn {
	a := direction(y, x)
	if (a+1<<30+turnError)&(1<<31-1) < 2*turnError { // too near to a midpoint to be sure
		a = directionSlow(y, x)
	}
	return Turn((a + 1<<30) >> 31)
}

// Atan2Radians returns the direction of the vector (x, y) in radians, -π..π; the one of (0, 0) is 0.
func Atan2Radians(y, x Q) Q {
	a := direction(y, x)
	m := inRadians(a, y)
	if (m+1<<27+radianError)&(1<<28-1) < 2*radianError || a == unsure {
		m = inRadians(directionSlow(y, x), y)
	}
	sign := y >> 63
	return (Q((m+1<<27)>>28) ^ sign) - sign
}

// inRadians returns a direction in turns · 2^63 as radians · 2^60, without the sign, which is that of y.
func inRadians(a uint64, y Q) uint64 {
	const tau = 0xc90fdaa22168c235 // 2π · 2^61
	sign := uint64(y >> 63)
	return mulHigh((a^sign)-sign, tau)
}

// The error of direction is that of leaving c5 out, at most 2^-44.9 turns, as a multiple of 2^-63 turns and 2^-60 radians.
const (
	turnError   = 3 << 17
	radianError = 1 << 18

	unsure = 1 << 30 // a direction that is a midpoint: ask directionSlow
)

// direction returns the direction of (x, y) in turns · 2^63, and wraps at 2^64. It is quick and short of bits: use it only
// where turnError does not matter.
func direction(y, x Q) uint64 {
	ay, ax := magnitude(int64(y)), magnitude(int64(x))
	near, far := int64(min(ay, ax)), int64(max(ay, ax))
	if far <= 0 { // 0, or 2^63, which is no int64
		return unsure
	}
	r := uint64(ratioSeed(near, far))
	r -= r >> 50 // the end of the last piece is as good as 1
	p, u := &atanPieces[uint8(r>>42)], r<<22
	short := int64(u >> 33)
	h := p.c3>>25 + int64(p.c4)*short>>36                    // · 2^59, of either sign
	bend := mulHigh(p.c2-uint64(h*short>>13), mulHigh(u, u)) // the products side by side, not one after the other
	return unfold(p.c0+mulHigh(p.c1, u)>>7-bend>>14, y, x, uint64(int64(ax-ay)>>63))
}

// unfold returns the direction of (x, y), given that of the same vector in the first octant; steep is all ones where
// |y| > |x|, else 0. It has no branches: no processor foresees where a unit looks.
func unfold(a uint64, y, x Q, steep uint64) uint64 {
	a = (a ^ steep) - steep + steep&(1<<61)
	flip := uint64(x >> 63)
	a = (a ^ flip) - flip + flip&(1<<62)
	flip = uint64(y >> 63)
	return (a ^ flip) - flip
}

// directionSlow is direction without floats, and with an error below 2^-60.
func directionSlow(y, x Q) uint64 {
	ay, ax := magnitude(int64(y)), magnitude(int64(x))
	switch {
	case ay == ax && ax == 0:
		return 0
	case ay < ax:
		r, _ := bits.Div64(ay, 0, ax)
		return unfold(arcTangent(r), y, x, 0)
	case ay > ax:
		r, _ := bits.Div64(ax, 0, ay)
		return unfold(arcTangent(r), y, x, 1<<64-1)
	}
	return unfold(1<<60, y, x, 0)
}

// arcTangent returns the arc tangent of r / 2^64 in turns · 2^63: c0 + u·(c1 - u·(c2 - u·(c3 + …))), where c3 and beyond
// have either sign.
func arcTangent(r uint64) uint64 {
	p, u := &atanPieces[uint8(r>>56)], r<<8
	short := int64(u >> 33)
	h := p.c3 + (int64(p.c4)+int64(p.c5)*short>>39)*short>>11
	hi, _ := bits.Mul64(uint64(h), u)
	v := p.c2 - uint64(int64(hi-uint64(h>>63)&u)>>7)
	v = p.c1 - mulHigh(v, u)>>7
	return p.c0 + mulHigh(v, u)>>7
}

// Asin returns the angle in -1/4..1/4 turn whose sine is x; x is limited to -1..1.
func Asin(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(x<<30, cathetus(x))
}

// Acos returns the angle in 0..1/2 turn whose cosine is x; x is limited to -1..1.
func Acos(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(cathetus(x), x<<30)
}

// cathetus returns √(1-x²) · 2^62, rounded down.
func cathetus(x Q) Q {
	return Q(ISqrt128(bits.Mul64(uint64(One-x)<<30, uint64(One+x)<<30)))
}
