package fixed

import "math/bits"

// Atan2 returns the direction of the vector (x, y), and 0 for (0, 0).
func Atan2(y, x Q) Turn {
	near, far, steep := octant(y, x)
	if far > 0 {
		base, sign := fold(y, x, steep)
		p, u := arcPiece(ratioSeed(near, far))
		a := base + (p.arc(p.arcBend(u), u) ^ sign)
		if (a+1<<30+turnError)&(1<<31-1) >= 2*turnError { // far enough from a midpoint
			return Turn((a + 1<<30) >> 31)
		}
	}
	return Turn((directionSlow(y, x) + 1<<30) >> 31)
}

// Atan2Radians returns the direction of the vector (x, y) in radians, -π..π, and 0 for (0, 0).
func Atan2Radians(y, x Q) Q {
	sign := y >> 63
	near, far, steep := octant(y, x)
	if far > 0 {
		base, flip := fold(y, x, steep)
		p, u := arcPiece(ratioSeed(near, far))
		m := inRadians(base+(p.arc(p.arcBend(u), u)^flip), y)
		if (m+1<<27+radianError)&(1<<28-1) >= 2*radianError {
			return (Q((m+1<<27)>>28) ^ sign) - sign
		}
	}
	return (Q((inRadians(directionSlow(y, x), y)+1<<27)>>28) ^ sign) - sign
}

// inRadians converts a direction in turns · 2^63 to radians · 2^60. It leaves out the sign, which is that of y.
func inRadians(a uint64, y Q) uint64 {
	const tau = 0xc90fdaa22168c235 // 2π · 2^61
	sign := uint64(y >> 63)
	return mulHigh((a^sign)-sign, tau)
}

// The errors of a direction without c5, at most 2^-44.9 turns, in units of 2^-63 turns and 2^-60 radians.
const (
	turnError   = 3 << 17
	radianError = 1 << 18
)

// octant returns the smaller and the greater of |y| and |x|. steep is all ones where |y| is the greater, else 0. far is
// negative if it is 2^63.
func octant(y, x Q) (near, far int64, steep uint64) {
	ay, ax := magnitude(int64(y)), magnitude(int64(x))
	return int64(min(ay, ax)), int64(max(ay, ax)), uint64(int64(ax-ay) >> 63)
}

// fold returns base and sign so that base + (a ^ sign) is the direction of (x, y), where a is its direction folded into the
// first octant. It has no branches, which a processor could not predict, and runs in parallel with the computation of a.
func fold(y, x Q, steep uint64) (base, sign uint64) {
	base = steep & (1 << 61)
	flip := uint64(x >> 63)
	base = (base ^ flip) - flip + flip&(1<<62)
	sign = steep ^ flip
	flip = uint64(y >> 63)
	sign ^= flip
	return (base ^ flip) - flip - sign, sign
}

// arcPiece, arcBend and arc compute the arc tangent of r / 2^50 in turns · 2^63, for r ≤ 2^50, with an error of turnError.
// Each of the three is small enough to be inlined.

// arcPiece returns the piece of r, and u · 2^64.
func arcPiece(r int64) (*piece, uint64) { return &atanPieces[uint64(r)>>42], uint64(r) << 22 }

// arcBend returns c2 - u·(c3 + u·c4), with products of 64 bits.
func (p *piece) arcBend(u uint64) uint64 {
	short := int64(u >> 33)
	return p.c2 - uint64((p.c3>>25+int64(p.c4)*short>>36)*short>>13)
}

// arc returns c0 + u·c1 - u²·bend. Its products do not wait for each other.
func (p *piece) arc(bend, u uint64) uint64 {
	return p.c0 + mulHigh(p.c1, u)>>7 - mulHigh(bend, mulHigh(u, u))>>14
}

// directionSlow returns the direction in turns · 2^63 without floats, with an error below 2^-60.
func directionSlow(y, x Q) uint64 {
	ay, ax := magnitude(int64(y)), magnitude(int64(x))
	switch {
	case ay == ax && ax == 0:
		return 0
	case ay < ax:
		r, _ := bits.Div64(ay, 0, ax)
		base, sign := fold(y, x, 0)
		return base + (arcTangent(r) ^ sign)
	case ay > ax:
		r, _ := bits.Div64(ax, 0, ay)
		base, sign := fold(y, x, 1<<64-1)
		return base + (arcTangent(r) ^ sign)
	}
	base, sign := fold(y, x, 0)
	return base + (1<<60 ^ sign)
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

// Asin returns the angle in -1/4..1/4 turn whose sine is x. It limits x to -1..1.
func Asin(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(x<<30, cathetus(x))
}

// Acos returns the angle in 0..1/2 turn whose cosine is x. It limits x to -1..1.
func Acos(x Q) Turn {
	x = Clamp(x, -One, One)
	return Atan2(cathetus(x), x<<30)
}

// cathetus returns √(1-x²) · 2^62, rounded down.
func cathetus(x Q) Q {
	return Q(ISqrt128(bits.Mul64(uint64(One-x)<<30, uint64(One+x)<<30)))
}
