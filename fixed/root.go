package fixed

import "math/bits"

// ISqrt64 returns the greatest integer whose square is ≤ x.
func ISqrt64(x uint64) uint64 {
	r := rootSeed(0, x)
	// The seed is off by at most one. Its square wraps only for r = 2^32.
	if r > 1<<32-1 {
		r = 1<<32 - 1
	}
	if r*r > x {
		return r - 1
	}
	if x-r*r > 2*r {
		return r + 1
	}
	return r
}

// ISqrt128 returns the greatest integer whose square is ≤ hi·2^64 + lo.
func ISqrt128(hi, lo uint64) uint64 {
	if hi == 0 {
		return ISqrt64(lo)
	}
	r := rootSeed(hi, lo)
	if r <= hi { // only above (2^64 - 2^12)^2, where the quotient below does not fit
		r = 1<<64 - 1
	}
	if r <= hi {
		return r
	}
	// One Newton step squares the relative error of 2^-50. The result is too great by less than one.
	q, _ := bits.Div64(hi, lo, r)
	s, carry := bits.Add64(r, q, 0)
	r = s>>1 | carry<<63
	for {
		h, l := bits.Mul64(r, r)
		l, borrow := bits.Sub64(lo, l, 0)
		h, borrow = bits.Sub64(hi, h, borrow)
		if borrow != 0 {
			r--
			continue
		}
		if h < r>>63 || h == r>>63 && l <= r<<1 { // the rest is ≤ 2r
			return r
		}
		r++
	}
}

// Sqrt returns the root of x rounded to nearest; a negative x gives 0.
func (x Q) Sqrt() Q {
	if x < 0 {
		return 0
	}
	r := sqrtSeed(int64(x))
	// The seed is off by less than 1, so the rest fits into 64 bits. A root is never half-way between two integers: (r+1/2)² is no integer.
	rest := int64(x)<<32 - r*r
	if rest > r {
		r++
	} else if rest <= -r && r != 0 {
		r--
	}
	return Q(r)
}

// Hypot returns the root of x²+y² rounded to nearest, saturating. Intermediate results never overflow.
func Hypot(x, y Q) Q {
	r := hypotSeed(int64(x), int64(y))
	if uint64(r) >= 1<<49 {
		return signed(hypot(magnitude(int64(x)), magnitude(int64(y))), false)
	}
	rest := int64(x)*int64(x) + int64(y)*int64(y) - r*r // as in Sqrt: r is right if -r < rest ≤ r
	if uint64(rest+r-1) >= uint64(2*r) && r != 0 {
		r += 1 | rest>>63
	}
	return Q(r)
}

// hypot returns the root of x²+y² rounded to nearest, for x and y ≤ 2^63.
func hypot(x, y uint64) uint64 {
	_, hi, lo := squares(x, y)
	r := ISqrt128(hi, lo)
	h, l := bits.Mul64(r, r)
	l, borrow := bits.Sub64(lo, l, 0)
	if h+borrow != hi || l > r { // the rest is more than r
		r++
	}
	return r
}

// RSqrt returns 1/√x rounded to nearest, MaxQ for 0, and 0 for a negative x.
func RSqrt(x Q) Q {
	if x <= 0 {
		if x == 0 {
			return saturate(false)
		}
		return 0
	}
	if x >= 1<<20 {
		if r := rsqrtSeed(int64(x)); certain(r, 12) {
			return Q((r + 1<<11) >> 12)
		}
	}
	return rsqrtSlow(x)
}

// rsqrtSlow is RSqrt without floats: the root of the quotient 2^96/x.
func rsqrtSlow(x Q) Q {
	hi, rest := 1<<32/uint64(x), 1<<32%uint64(x)
	lo, rest := bits.Div64(rest, 0, uint64(x))
	r := ISqrt128(hi, lo)
	h, l := bits.Mul64(r, r)
	l, borrow := bits.Sub64(lo, l, 0)
	if h+borrow != hi || l > r || l == r && rest > uint64(x)>>2 { // the quotient is more than r² + r + 1/4
		r++
	}
	return Q(r)
}

// squares returns x²+y² as a 129-bit integer.
func squares(x, y uint64) (top, hi, lo uint64) {
	h1, l1 := bits.Mul64(x, x)
	h2, l2 := bits.Mul64(y, y)
	lo, carry := bits.Add64(l1, l2, 0)
	hi, top = bits.Add64(h1, h2, carry)
	return top, hi, lo
}

// FloorDiv returns a/b rounded towards minus infinity. Division by zero is 0.
func FloorDiv(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	q := a / b
	if a%b != 0 && a^b < 0 {
		q--
	}
	return q
}

// Cell returns the index of the grid cell that holds pos: floor(pos/size), also for negative positions.
func Cell(pos, size Q) int64 { return FloorDiv(int64(pos), int64(size)) }
