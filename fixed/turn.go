package fixed

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
