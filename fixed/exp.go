package fixed

import "math/bits"

// Exp2 returns 2^x, saturating.
func Exp2(x Q) Q { return exp2(int64(x)>>32, uint64(x)<<32) }

// exp2 returns 2^(n + f/2^64).
func exp2(n int64, f uint64) Q {
	if n >= 31 {
		return MaxQ
	}
	if n < -33 {
		return 0
	}
	y := mulHigh(f, 0xb17217f7d1cf79ac) // ln 2
	var p uint64
	for i := len(inverseFactorials) - 1; i >= 2; i-- {
		p = inverseFactorials[i] + mulHigh(y, p)
	}
	p = y + mulHigh(y, mulHigh(y, p))
	// (2^64 + p) >> (32-n), rounded
	shift := uint(32 - n) // 2..65
	lo, carry := bits.Add64(p, 1<<(shift-1), 0)
	hi := 1 + carry
	if shift > 64 { // 2^-33·(1+p): half a unit, or more
		if p == 0 {
			return 0
		}
		return 1
	}
	return Q(hi<<(64-shift) | lo>>shift)
}

// Log2 returns the base-2 logarithm of x rounded to nearest; that of a number ≤ 0 is MinQ.
func Log2(x Q) Q {
	if x <= 0 {
		return MinQ
	}
	n, f := log2(uint64(x))
	return Q((n-32)<<32) + Q(f>>32) + Q(f>>31&1)
}

// log2 returns the base-2 logarithm of x > 0 as n + f/2^64, by repeated squaring.
func log2(x uint64) (n int64, f uint64) {
	n = int64(bits.Len64(x)) - 1
	m := x << (63 - n) // 1..2, · 2^63
	for range 64 {
		hi, lo := bits.Mul64(m, m)
		f <<= 1
		if hi >= 1<<63 {
			m = hi
			f |= 1
		} else {
			m = hi<<1 | lo>>63
		}
	}
	return n, f
}

// Exp returns e^x, saturating.
func Exp(x Q) Q {
	negative := x < 0
	hi, lo := bits.Mul64(magnitude(int64(x)), 0xb8aa3b295c17f0bc) // log2 e · 2^63; the product · 2^95
	n, f := hi>>31, hi<<33|lo>>31
	if negative {
		n, f = ^n, -f
		if f == 0 {
			n++
		}
	}
	return exp2(int64(n), f)
}

// Log returns the natural logarithm of x; that of a number ≤ 0 is MinQ.
func Log(x Q) Q {
	if x <= 0 {
		return MinQ
	}
	n, f := log2(uint64(x))
	l := (n-32)<<57 + int64(f>>7)
	hi, lo := bits.Mul64(magnitude(l), 0xb17217f7d1cf79ac) // · 2^121
	m := hi<<7 | lo>>57
	return signed((m+1<<31)>>32, l < 0)
}

// Pow returns x^y, saturating. 0^0 is 1, 0 to a negative power is MaxQ; a negative x needs a whole y, else the result is 0.
func Pow(x, y Q) Q {
	negative := false
	switch {
	case y == 0:
		return One
	case x < 0:
		if y&(One-1) != 0 {
			return 0
		}
		negative = y&One != 0
	case x == 0 && y < 0:
		return MaxQ
	case x == 0:
		return 0
	}
	n, f := log2(magnitude(int64(x)))
	l := (n-32)<<57 + int64(f>>7)
	hi, lo := bits.Mul64(magnitude(l), magnitude(int64(y))) // · 2^89
	if hi >= 1<<31 {
		if l^int64(y) < 0 {
			return 0
		}
		return saturate(negative)
	}
	e, g := hi<<39|lo>>25, lo<<39
	if l^int64(y) < 0 {
		e, g = ^e, -g
		if g == 0 {
			e++
		}
	}
	return signed(uint64(exp2(int64(e), g)), negative)
}

// RSqrt returns 1/√x; that of 0 is MaxQ and that of a negative x 0.
func RSqrt(x Q) Q {
	if x <= 0 {
		if x == 0 {
			return MaxQ
		}
		return 0
	}
	// √(2^96/x), by the root of the quotient with 64 bits more.
	q, _ := bits.Div64(1<<32%uint64(x), 0, uint64(x))
	s := ISqrt128(1<<32/uint64(x), q)
	hi, lo := bits.Mul64(s, s)
	lo, borrow := bits.Sub64(q, lo, 0)
	hi, _ = bits.Sub64(1<<32/uint64(x), hi, borrow)
	if hi == 0 && lo > s {
		s++
	}
	return Q(s)
}
