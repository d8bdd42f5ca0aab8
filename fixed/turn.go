package fixed

import (
	"fmt"
	"math/bits"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

// Turn is an angle as a fraction of a full turn, v / 2^32, counter-clockwise from +X. Native + and - wrap, as angles do.
type Turn uint32

// A quarter and a half of a turn.
const (
	QuarterTurn Turn = 1 << 30
	HalfTurn    Turn = 1 << 31
)

// Degrees returns an angle in degrees as a Turn, without full turns, rounded to nearest, ties to even.
func Degrees(d Q) Turn {
	whole := d.Mod(360 * One)
	return Turn(MulDiv(whole, One, 360*One))
}

// FractionBits returns 32. Package state finds this method by reflection, so that a tool without this type prints 0.25.
func (Turn) FractionBits() uint8 { return 32 }

// Diff returns the shortest signed angle from t to the other: t + Turn(t.Diff(to)) == to. Half a turn is negative.
func (t Turn) Diff(to Turn) int32 { return int32(to - t) }

// Toward returns t turned towards target in the shorter direction, by at most limit.
func (t Turn) Toward(target, limit Turn) Turn {
	switch d := target - t; {
	case d <= limit || -d <= limit:
		return target
	case d < HalfTurn:
		return t + limit
	default:
		return t - limit
	}
}

// Sin returns the sine of t, correctly rounded.
func (t Turn) Sin() Q { return sine(uint32(t)) }

// Cos returns the cosine of t, correctly rounded.
func (t Turn) Cos() Q { return sine(uint32(t + QuarterTurn)) }

// SinCos returns the results of Sin and Cos.
func (t Turn) SinCos() (sin, cos Q) { return sineCosine(uint32(t)) }

// Tan returns sine/cosine of t, saturating at the poles.
func (t Turn) Tan() Q {
	s, c := t.SinCos()
	return s.Div(c)
}

// sineTable is sine without floats: c0 + u·(c1 - u·(c2 + u·(c3 - u·(c4 + u·c5)))). With a u of 22 bits the first three
// products need only 64 bits.
func sineTable(t uint32) Q {
	// The second and fourth quarter run backwards: ^t counts down from the last step of a quarter, one step too few. odd is
	// -1 there and adds the step; u may be the whole piece.
	odd := int32(t<<1) >> 31
	r := t ^ uint32(odd)
	p, u := &sinePieces[uint8(r>>22)], int64(r&(1<<22-1))-int64(odd)
	h := p.c3>>19 - (int64(p.c4)+int64(p.c5)*u>>30)*u>>21
	v := p.c1 - mulHigh(p.c2+uint64(h*u>>10), uint64(u)<<35)
	return rounded(p.c0+mulHigh(v, uint64(u)<<35), int32(t))
}

// rounded returns v / 2^31, rounded, with the sign of t.
func rounded(v uint64, t int32) Q {
	sign := Q(t >> 31)
	return (Q((v+1<<30)>>31) ^ sign) - sign
}

// SinRadians returns the sine of an angle in radians, over the whole range of Q.
func SinRadians(x Q) Q { return sineRadians(x, 0) }

// CosRadians returns the cosine of an angle in radians, over the whole range of Q.
func CosRadians(x Q) Q { return sineRadians(x, 1<<62) }

// sineRadiansTable is sineRadians without floats, over the whole range of Q. It computes with |x|, so that mirrored angles
// give mirrored bits. ahead is 0 or a quarter.
func sineRadiansTable(x Q, ahead uint64) Q {
	// x/2π turns · 2^64, without the whole turns. The constant reaches 64 bits below the last bit of the greatest x, so
	// great angles are as exact as small ones.
	const perRadianHigh, perRadianLow = 0x28be60db9391054a, 0x7f09d5f47d4d3770 // 1/2π · 2^128
	m := magnitude(int64(x))
	hi, mid := bits.Mul64(m, perRadianHigh)
	mid, carry := bits.Add64(mid, mulHigh(m, perRadianLow), 0)
	a := (hi+carry)<<32 | mid>>32
	a += ahead

	r := a ^ uint64(int64(a<<1)>>63) // as in sineTable, but the missing step is far below the last bit
	p, u := &sinePieces[uint8(r>>54)], r<<10
	short := int64(u >> 33)
	h := p.c3 - (int64(p.c4)+int64(p.c5)*short>>39)*short>>11
	v := p.c2 + mulHigh(uint64(h), u)>>7
	v = p.c1 - mulHigh(v, u)>>7
	s := rounded(p.c0+mulHigh(v, u)>>7, int32(a>>32))
	if x < 0 && ahead == 0 { // the sine is odd, the cosine even
		return -s
	}
	return s
}

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

// arcTangent returns the arc tangent of r / 2^64 in turns · 2^63: c0 + u·(c1 - u·(c2 - u·(c3 + …))), where c3 and beyond have either sign.
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

// ParseTurn reads a fraction of a turn, at least 0 and less than 1, such as "0.25". The error wraps [ErrSyntax] or [ErrRange].
func ParseTurn(s string) (Turn, error) {
	v, err := decimal.ParseUint(s, 32)
	if err == nil && v > 1<<32-1 {
		err = ErrRange
	}
	if err != nil {
		return 0, fmt.Errorf("fixed: turn: %w: %q", err, s)
	}
	return Turn(v), nil
}

// String returns t as the shortest decimal fraction of a turn that [ParseTurn] reads back as t.
func (t Turn) String() string {
	var buf [48]byte
	return string(decimal.AppendUint(buf[:0], uint64(t), 32))
}

// AppendText appends what String returns.
func (t Turn) AppendText(b []byte) ([]byte, error) {
	return decimal.AppendUint(b, uint64(t), 32), nil
}

// MarshalText returns what String returns.
func (t Turn) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText reads what [ParseTurn] reads.
func (t *Turn) UnmarshalText(text []byte) error {
	v, err := ParseTurn(string(text))
	if err != nil {
		return err
	}
	*t = v
	return nil
}

// MarshalJSON writes a JSON number with all its digits.
func (t Turn) MarshalJSON() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalJSON reads a JSON number without an exponent, or the same in quotes. null leaves t unchanged.
func (t *Turn) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return t.UnmarshalText(unquoted(text))
}
