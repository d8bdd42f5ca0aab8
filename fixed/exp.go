package fixed

import "math/bits"

// Exp2 returns 2^x, saturating.
func Exp2(x Q) Q { return exp2(int64(x)>>32, uint64(x)<<32) }

// exp2 returns 2^(n + f/2^64), saturating.
func exp2(n int64, f uint64) Q {
	if n >= 31 {
		return saturate(false)
	}
	if n <= -33 {
		if n < -33 || f == 0 { // 2^-33 is half a unit, a tie
			return 0
		}
		return 1
	}
	p := &powers[uint8(f>>56)]
	t := p.high
	more := mulHigh(t, powerLessOne(f<<8)) // · 2^71
	if n <= 16 {
		return Q(((t+more>>8)>>(30-n) + 1) >> 1)
	}
	// A result has up to 63 bits here, so the sum takes 80: 16 more of the table.
	lo, carry := bits.Add64(t<<16|uint64(p.low), more<<8, 0)
	hi := t>>48 + more>>56 + carry
	shift := uint(47 - n) // 17..30
	lo, carry = bits.Add64(lo, 1<<(shift-1), 0)
	hi += carry
	if hi>>(shift-1) != 0 {
		return saturate(false)
	}
	return Q(hi<<(64-shift) | lo>>shift)
}

// powerLessOne returns (2^(u/256) - 1) · 2^72, for u · 2^64: six terms of the series of e^(u·ln2/256), scaled by 2^72, 2^81,
// 2^90, 2^71, 2^80 and 2^90, with an error below 2^-71.
func powerLessOne(u uint64) uint64 {
	short := u >> 33
	h := 0x5761ff9e + 0x2861225f*short>>41
	h = 0x13b2ab6fc + h*short>>40
	h = 0x38d611ae09417f16 + h*short>>12
	h = 0x7afef7fe0b163aa2 + mulHigh(h, u)>>9
	h = 0xb17217f7d1cf79ac + mulHigh(h, u)>>9
	return mulHigh(h, u)
}

// Log2 returns the base-2 logarithm of x, and MinQ for x ≤ 0.
func Log2(x Q) Q {
	if x <= 0 {
		return saturate(true)
	}
	n, f := log2(uint64(x))
	return Q(n<<32) + Q((f+1<<30)>>31)
}

// log2 returns the base-2 logarithm of x/2^32, for x > 0, as n + f/2^63: c0 + u·(c1 - u·(c2 - u·(c3 - u·(c4 - u·c5)))).
func log2(x uint64) (n int64, f uint64) {
	zeros := bits.LeadingZeros64(x)
	m := x << zeros << 1 // the bits after the leading one
	p := &log2Pieces[uint8(m>>56)]
	u := m << 8
	short := int64(u >> 33)
	h := p.c3 - (int64(p.c4)-int64(p.c5)*short>>39)*short>>11
	v := p.c2 - mulHigh(uint64(h), u)>>7
	v = p.c1 - mulHigh(v, u)>>7
	return 31 - int64(zeros), p.c0 + mulHigh(v, u)>>7
}

// Exp returns e^x, saturating.
func Exp(x Q) Q {
	const log2eHigh, log2eLow = 0xb8aa3b295c17f0bb, 0xbe87fed0691d3e88 // log2 e · 2^127
	m := magnitude(int64(x))
	hi, lo := bits.Mul64(m, log2eHigh)
	lo, carry := bits.Add64(lo, mulHigh(m, log2eLow), 0)
	hi += carry
	return exp2Product(hi>>31, hi<<33|lo>>31, x < 0)
}

// exp2Product returns 2^±(n + f/2^64), saturating.
func exp2Product(n, f uint64, negative bool) Q {
	if negative {
		var borrow uint64
		f, borrow = bits.Sub64(0, f, 0)
		n, _ = bits.Sub64(0, n, borrow)
	}
	return exp2(int64(n), f)
}

// Log returns the natural logarithm of x, and MinQ for x ≤ 0.
func Log(x Q) Q {
	if x <= 0 {
		return saturate(true)
	}
	n, f := log2(uint64(x))
	l := n<<58 + int64(f>>5)
	hi, _ := bits.Mul64(magnitude(l), 0xb17217f7d1cf79ac) // ln 2 · 2^64
	return signed((hi+1<<25)>>26, l < 0)
}

// Pow returns x^y, saturating. x^0 is 1, and 0 to a negative power is MaxQ. The power of a negative x is 0 unless y is whole.
func Pow(x, y Q) Q {
	negative := false
	switch {
	case y == 0:
		return One
	case x == 0 && y < 0:
		return saturate(false)
	case x == 0:
		return 0
	case x < 0:
		if y&(One-1) != 0 {
			return 0
		}
		negative = y&One != 0
	}
	n, f := log2(magnitude(int64(x)))
	l := n<<58 + int64(f>>5)
	down := l^int64(y) < 0
	hi, lo := bits.Mul64(magnitude(l), magnitude(int64(y))) // · 2^90
	p := exp2Product(hi>>26, hi<<38|lo>>26, down)
	if negative {
		return -p
	}
	return p
}
