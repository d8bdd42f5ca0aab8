package fixed

import "math/bits"

// Q is a signed fixed-point number with 32 bits before and 32 bits after the point: the integer v stands for v / 2^32.
// Native +, - and comparison work and wrap; the methods saturate.
type Q int64

// The usual numbers. MinQ and MaxQ are where saturating operations stop: about ∓2.1e9.
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

// FromRatio returns num/den rounded to nearest, ties to even, saturating; a zero den saturates by the sign of num, 0/0 is 0.
func FromRatio(num, den int64) Q { return Q(num).Div(Q(den)) }

// FractionBits returns 32. Package state finds it by reflection, so that a tool without this type prints 12.5.
func (Q) FractionBits() uint8 { return 32 }

func saturate(negative bool) Q {
	if negative {
		return MinQ
	}
	return MaxQ
}

// magnitude returns |x|, also for MinQ.
func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// signed returns the Q of a magnitude and a sign, saturating.
func signed(m uint64, negative bool) Q {
	if m > 1<<63-1 {
		return saturate(negative)
	}
	if negative {
		return -Q(m)
	}
	return Q(m)
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

// mulRound returns the 128-bit product of x and y, rounded so that bits 32 and up are the nearest Q, ties to even.
func mulRound(x, y Q) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(x), uint64(y))
	h -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	l, carry := bits.Add64(l, 1<<31-1+l>>32&1, 0)
	return int64(h + carry), l
}

// Mul returns x·y rounded to nearest, ties to even, saturating.
func (x Q) Mul(y Q) Q {
	hi, lo := mulRound(x, y)
	if hi != int64(int32(hi)) {
		return saturate(hi < 0)
	}
	return Q(hi<<32 | int64(lo>>32))
}

// MulWrap returns x·y rounded to nearest, ties to even, keeping the low 64 bits of a result that is out of range.
func (x Q) MulWrap(y Q) Q {
	hi, lo := mulRound(x, y)
	return Q(hi<<32 | int64(lo>>32))
}

// Div returns x/y rounded to nearest, ties to even, saturating. x/0 saturates by the sign of x, 0/0 is 0.
func (x Q) Div(y Q) Q {
	return mulDiv(x, One, y)
}

// MulDiv returns x·y/z with one rounding at the end, to nearest, ties to even, saturating. A zero z saturates by the
// sign of x·y, and 0/0 is 0.
func MulDiv(x, y, z Q) Q { return mulDiv(x, y, z) }

func mulDiv(x, y, z Q) Q {
	negative := x^y^z < 0
	hi, lo := bits.Mul64(magnitude(int64(x)), magnitude(int64(y)))
	d := magnitude(int64(z))
	if hi >= d {
		if hi|lo == 0 {
			return 0
		}
		return saturate(negative)
	}
	q, r := bits.Div64(hi, lo, d)
	if half := d - r; r > half || r == half && q&1 == 1 {
		q++ // cannot wrap: q = 2^64-1 would need hi = d-1 and the saturation below is the same for 2^63 and up
		if q == 0 {
			return saturate(negative)
		}
	}
	return signed(q, negative)
}

// Abs returns |x|; the one of MinQ is MaxQ.
func (x Q) Abs() Q { return signed(magnitude(int64(x)), false) }

// Floor returns the greatest whole number ≤ x.
func (x Q) Floor() Q { return x &^ (One - 1) }

// Ceil returns the least whole number ≥ x, saturating.
func (x Q) Ceil() Q {
	if x > MaxQ&^(One-1) {
		return MaxQ
	}
	return (x + One - 1) &^ (One - 1)
}

// Round returns the nearest whole number, ties to even, saturating.
func (x Q) Round() Q {
	if x >= MaxQ-Half+1 {
		return MaxQ
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

// Min returns the smaller of x and y.
func Min(x, y Q) Q { return min(x, y) }

// Max returns the greater of x and y.
func Max(x, y Q) Q { return max(x, y) }

// Clamp returns x limited to lo..hi; lo wins where they cross.
func Clamp(x, lo, hi Q) Q { return max(min(x, hi), lo) }

// Lerp returns a + (b-a)·t with one rounding at the end, saturating: exactly a at t = 0 and b at t = One. t is not limited.
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
