package fixed

import (
	"fmt"
	"math/bits"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

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

//go:generate go test -run TestTablesAreGenerated -update .

// A piece is a polynomial of degree 5 for 1/256 of a function's domain: c0 + c1·u + … + c5·u⁵ with u in 0..1. The
// coefficients are scaled by 2^63, 2^70, 2^77, 2^84, 2^64 and 2^72. Each function subtracts a fixed subset of them, so its
// three wide products are unsigned.
type piece struct {
	c0, c1, c2 uint64
	c3         int64
	c4, c5     int32
}

// A power is 2^(i/256) · 2^63, rounded down, and the next 16 bits.
type power struct {
	high uint64
	low  uint16
}

// mulHigh returns a·b / 2^64, rounded down.
func mulHigh(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
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

// MulDiv returns x·y/z with one rounding at the end, to nearest, ties to even, saturating. A zero z saturates by the sign of x·y; 0/0 is 0.
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

// Mathematical constants, rounded to nearest.
const (
	Pi    Q = 13493037705 // half a turn in radians
	Tau   Q = 26986075409 // a full turn in radians
	E     Q = 11674931555 // base of natural logarithms
	Phi   Q = 6949403065  // golden ratio
	Sqrt2 Q = 6074001000  // length of a diagonal of a cell
	Sqrt3 Q = 7439101574  // twice the height of a triangle with sides of 1
	Ln2   Q = 2977044472  // natural logarithm of 2
	Ln10  Q = 9889527671  // natural logarithm of 10
)

// MulWrap returns x·y rounded to nearest, ties to even. A result that is out of range keeps its low 64 bits.
func (x Q) MulWrap(y Q) Q {
	low := uint64(uint32(x)) * uint64(uint32(y))
	r := x>>32*y + Q(uint32(x))*(y>>32) + Q(low>>32)
	return r + Q((uint64(uint32(low))+1<<31-1+uint64(r)&1)>>32)
}

// mulNarrow is Mul for machines without a 128-bit product.
func mulNarrow(x, y Q) Q {
	if (uint32(x>>32)+1<<14)|(uint32(y>>32)+1<<14) < 1<<15 { // both within ±16384: the product is far from saturating
		return x.MulWrap(y)
	}
	hi, lo := bits.Mul64(magnitude(int64(x)), magnitude(int64(y)))
	if hi > 1<<31 {
		return saturate(x^y < 0)
	}
	lo, carry := bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	return signed((hi+carry)<<32|lo>>32, x^y < 0)
}

var (
	// ErrSyntax reports text that is not a decimal number.
	ErrSyntax = decimal.ErrSyntax
	// ErrRange reports a number that does not fit.
	ErrRange = decimal.ErrRange
)

// Parse reads a decimal such as "-0.25", rounded to nearest, ties to even. It takes no exponent. The error wraps [ErrSyntax] or [ErrRange].
func Parse(s string) (Q, error) {
	v, err := decimal.Parse(s, 32)
	if err != nil {
		return 0, fmt.Errorf("fixed: %w: %q", err, s)
	}
	return Q(v), nil
}

// MustParse is [Parse] for constants in the source. It panics on an error.
func MustParse(s string) Q {
	x, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return x
}

// String returns the shortest decimal that Parse reads back as x.
func (x Q) String() string {
	var buf [48]byte
	return string(decimal.Append(buf[:0], int64(x), 32))
}

// AppendText appends what String returns.
func (x Q) AppendText(b []byte) ([]byte, error) { return decimal.Append(b, int64(x), 32), nil }

// MarshalText returns what String returns.
func (x Q) MarshalText() ([]byte, error) { return x.AppendText(nil) }

// UnmarshalText reads what [Parse] reads.
func (x *Q) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*x = v
	return nil
}

// MarshalJSON writes a JSON number with all its digits.
func (x Q) MarshalJSON() ([]byte, error) { return x.AppendText(nil) }

// UnmarshalJSON reads a JSON number without an exponent, or the same in quotes. null leaves x unchanged.
func (x *Q) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return x.UnmarshalText(unquoted(text))
}

func unquoted(text []byte) []byte {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}
