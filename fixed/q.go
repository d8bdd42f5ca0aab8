package fixed

import "math/bits"

// Q is a signed fixed-point number with 32 bits before and 32 bits after the point: the integer v stands for v / 2^32.
// Native +, - and comparison work; + and - wrap. The methods saturate.
type Q int64

// Common numbers. MinQ and MaxQ, about ∓2.1e9, are the limits of saturating operations.
const (
	One  Q = 1 << 32
	Half Q = 1 << 31
	MaxQ Q = 1<<63 - 1
	MinQ Q = -1 << 63
)

// FromInt returns n as a Q, saturating.
func FromInt(n int64) Q {
	if n != int64(int32(n)) {
		return saturate(n < 0)
	}
	return Q(n << 32)
}

// FromRatio returns num/den, with the rounding and saturation of [Q.Div].
func FromRatio(num, den int64) Q { return Q(num).Div(Q(den)) }

// FractionBits returns 32. Package state finds this method by reflection, so that a tool without this type prints 12.5.
func (Q) FractionBits() uint8 { return 32 }

// saturate returns the limit for a result that is out of range, or panics in a build with samestep_overflow.
func saturate(negative bool) Q {
	if panicOnOverflow {
		panic("fixed: overflow")
	}
	if negative {
		return MinQ
	}
	return MaxQ
}

// magnitude returns |x|, also for MinQ.
func magnitude(x int64) uint64 {
	sign := x >> 63
	return uint64(x^sign) - uint64(sign)
}

// signed returns the Q with a magnitude and a sign, saturating.
func signed(m uint64, negative bool) Q {
	sign := Q(0)
	if negative {
		sign = -1
	}
	if m > 1<<63-1-uint64(sign) {
		return saturate(negative)
	}
	return (Q(m) ^ sign) - sign
}

// Add returns x+y, saturating.
func (x Q) Add(y Q) Q {
	s := x + y
	if (x^s)&(y^s) < 0 {
		return saturate(x < 0)
	}
	return s
}

// Sub returns x-y, saturating.
func (x Q) Sub(y Q) Q {
	d := x - y
	if (x^y)&(x^d) < 0 {
		return saturate(x < 0)
	}
	return d
}

// Div returns x/y rounded to nearest, ties to even, saturating. x/0 saturates by the sign of x, 0/0 is 0.
func (x Q) Div(y Q) Q {
	q, d := quotientSeed(int64(x), int64(y)), magnitude(int64(y))
	if uint64(q+1<<50) < 1<<51 {
		// |q - x/y| < 1, so the rest fits into 64 bits, although its operands do not.
		rest := magnitude(int64(x)<<32 - q*int64(y))
		if rest < d-rest || rest == d-rest && q&1 == 0 {
			return Q(q)
		}
	}
	return divSlow(x, y)
}

// divSlow is Div by 128-bit division.
func divSlow(x, y Q) Q {
	m := magnitude(int64(x))
	return quotient(m>>32, m<<32, magnitude(int64(y)), x^y < 0)
}

// MulDiv returns x·y/z with one rounding at the end, to nearest, ties to even, saturating. A zero z saturates by the
// sign of x·y, and 0/0 is 0.
func MulDiv(x, y, z Q) Q {
	hi, lo := bits.Mul64(magnitude(int64(x)), magnitude(int64(y)))
	return quotient(hi, lo, magnitude(int64(z)), x^y^z < 0)
}

// quotient returns ±(hi·2^64 + lo)/d rounded to nearest, ties to even, saturating.
func quotient(hi, lo, d uint64, negative bool) Q {
	if hi >= d {
		if hi|lo == 0 {
			return 0
		}
		return saturate(negative)
	}
	q, r := bits.Div64(hi, lo, d)
	if q>>63 == 0 && (r > d-r || r == d-r && q&1 == 1) {
		q++
	}
	return signed(q, negative)
}

// Abs returns |x|, and MaxQ for MinQ.
func (x Q) Abs() Q { return signed(magnitude(int64(x)), false) }

// Floor returns the greatest whole number ≤ x.
func (x Q) Floor() Q { return x &^ (One - 1) }

// Ceil returns the least whole number ≥ x, saturating.
func (x Q) Ceil() Q {
	if x > MaxQ&^(One-1) {
		return saturate(false)
	}
	return (x + One - 1) &^ (One - 1)
}

// Round returns the nearest whole number, ties to even, saturating.
func (x Q) Round() Q {
	if x >= MaxQ-Half+1 {
		return saturate(false)
	}
	return (x + Half - 1 + x>>32&1) &^ (One - 1)
}

// Int returns the greatest integer ≤ x.
func (x Q) Int() int64 { return int64(x) >> 32 }

// Mod returns x - y·floor(x/y), exactly: it has the sign of y. Mod by zero is 0.
func (x Q) Mod(y Q) Q {
	if y == 0 || y == -1 {
		return 0
	}
	m := x % y
	if m != 0 && m^y < 0 {
		m += y
	}
	return m
}

// Clamp returns x limited to lo..hi, and lo if lo > hi.
func Clamp(x, lo, hi Q) Q { return max(min(x, hi), lo) }

// Lerp returns a + (b-a)·t with one rounding at the end, saturating: exactly a at t = 0 and b at t = One. t may be any number.
func Lerp(a, b, t Q) Q {
	// a·2^32 + (b-a)·t as a 128-bit integer; |b-a| < 2^64 and |t| ≤ 2^63, so the sum stays below 2^127 + 2^95.
	negative := (b < a) != (t < 0)
	diff := uint64(b) - uint64(a)
	if b < a {
		diff = -diff
	}
	hi, lo := bits.Mul64(diff, magnitude(int64(t)))
	if hi >= 1<<62 {
		return saturate(negative)
	}
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	lo, carry := bits.Add64(lo, uint64(a)<<32, 0)
	hi, _ = bits.Add64(hi, uint64(int64(a)>>32), carry)
	lo, carry = bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	hi += carry
	if int64(hi) != int64(int32(hi)) {
		return saturate(int64(hi) < 0)
	}
	return Q(hi<<32 | lo>>32)
}
