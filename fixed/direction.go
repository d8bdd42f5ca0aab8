package fixed

import "math/bits"

// Normalize returns the vector of length 1 in the direction of v, each component correctly rounded. The zero vector stays
// zero.
func (v Vec2) Normalize() Vec2 {
	if v.X|v.Y == 0 {
		return Vec2{}
	}
	const extra = 17
	x, y := scaleSeed(int64(v.X), int64(v.Y), int64(One)<<extra)
	if certain(x, extra) && certain(y, extra) {
		return Vec2{Q((x + 1<<(extra-1)) >> extra), Q((y + 1<<(extra-1)) >> extra)}
	}
	return v.withLengthSlow(One)
}

// withLength returns the vector of length n ≥ 0 in the direction of v, each component correctly rounded.
func (v Vec2) withLength(n Q) Vec2 {
	if v.X|v.Y == 0 || n == 0 {
		return Vec2{}
	}
	if extra := uint(bits.LeadingZeros64(uint64(n))) - 14; extra-6 < 40 { // n below 2^44, or 4096
		x, y := scaleSeed(int64(v.X), int64(v.Y), int64(n)<<extra)
		if certain(x, extra) && certain(y, extra) {
			return Vec2{Q((x + 1<<(extra-1)) >> extra), Q((y + 1<<(extra-1)) >> extra)}
		}
	}
	return v.withLengthSlow(n)
}

// withLengthSlow is withLength without floats.
func (v Vec2) withLengthSlow(n Q) Vec2 {
	x, y := magnitude(int64(v.X)), magnitude(int64(v.Y))
	// Scale to 2^62..2^63, as the error of the length is smaller for longer vectors.
	lx, ly := x>>1, y>>1
	if shift := bits.LeadingZeros64(x | y); shift > 0 {
		lx, ly = x<<(shift-1), y<<(shift-1)
	}
	length := max(hypot(lx, ly), lx, ly)
	return Vec2{
		signed(corrected(scaled(lx, uint64(n), length), x, y, uint64(n)), v.X < 0),
		signed(corrected(scaled(ly, uint64(n), length), y, x, uint64(n)), v.Y < 0),
	}
}

// scaled returns x·n/length, for x ≤ length.
func scaled(x, n, length uint64) uint64 {
	hi, lo := bits.Mul64(x, n)
	q, _ := bits.Div64(hi, lo, length)
	return q
}

// corrected returns the integer nearest to x·n/√(x²+y²), given a c close to it: the one with
// (2c-1)²·(x²+y²) < (2xn)² < (2c+1)²·(x²+y²). Equality is impossible unless c = 0, by infinite 2-adic descent.
func corrected(c, x, y, n uint64) uint64 {
	_, hi, lo := squares(x, y)
	h, l := bits.Mul64(x, n)
	goal := square(h<<1|l>>63, l<<1)
	for c > 0 && less(goal, squareTimes(2*c-1, hi, lo)) {
		c--
	}
	for less(squareTimes(2*c+1, hi, lo), goal) {
		c++
	}
	return c
}

// A uint256 is four words, the lowest first.
type uint256 [4]uint64

// multiply returns the product of two numbers of 128 bits.
func multiply(aHigh, aLow, bHigh, bLow uint64) (p uint256) {
	var carry uint64
	p[1], p[0] = bits.Mul64(aLow, bLow)
	p[3], p[2] = bits.Mul64(aHigh, bHigh)
	for _, middle := range [2][2]uint64{{aHigh, bLow}, {aLow, bHigh}} {
		h, l := bits.Mul64(middle[0], middle[1])
		p[1], carry = bits.Add64(p[1], l, 0)
		p[2], carry = bits.Add64(p[2], h, carry)
		p[3] += carry
	}
	return p
}

// square returns the square of a number of 128 bits.
func square(hi, lo uint64) uint256 { return multiply(hi, lo, hi, lo) }

// squareTimes returns m²·(hi·2^64 + lo).
func squareTimes(m, hi, lo uint64) uint256 {
	h, l := bits.Mul64(m, m)
	return multiply(h, l, hi, lo)
}

// less reports whether a < b.
func less(a, b uint256) bool {
	for i := 3; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
