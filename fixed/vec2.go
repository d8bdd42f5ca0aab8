package fixed

import "math/bits"

// Vec2 is a point or a displacement in the plane: X to the right, Y up, turns counter-clockwise.
type Vec2 struct{ X, Y Q }

// Polar returns the vector with a direction and a length.
func Polar(t Turn, length Q) Vec2 {
	s, c := t.SinCos()
	return Vec2{c.Mul(length), s.Mul(length)}
}

// Add returns v+o, saturating.
func (v Vec2) Add(o Vec2) Vec2 { return Vec2{v.X.Add(o.X), v.Y.Add(o.Y)} }

// Sub returns v-o, saturating.
func (v Vec2) Sub(o Vec2) Vec2 { return Vec2{v.X.Sub(o.X), v.Y.Sub(o.Y)} }

// Scale returns v·k, each component by Mul.
func (v Vec2) Scale(k Q) Vec2 { return Vec2{v.X.Mul(k), v.Y.Mul(k)} }

// Dot returns X·X + Y·Y of v and o, correctly rounded, saturating.
func (v Vec2) Dot(o Vec2) Q {
	h1, l1 := product(v.X, o.X)
	h2, l2 := product(v.Y, o.Y)
	return sum(h1, l1, h2, l2)
}

// Cross returns X·Y - Y·X of v and o, correctly rounded, saturating. It is positive if o is to the left of v.
func (v Vec2) Cross(o Vec2) Q {
	h1, l1 := product(v.X, o.Y)
	h2, l2 := product(v.Y, o.X)
	l2, borrow := bits.Sub64(0, l2, 0)
	return sum(h1, l1, -h2-int64(borrow), l2)
}

// product returns a·b as a signed integer of 128 bits, at most 2^126 in magnitude.
func product(a, b Q) (hi int64, lo uint64) {
	h, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(h - uint64(a>>63)&uint64(b) - uint64(b>>63)&uint64(a)), lo
}

// sum returns the sum of two products as a Q, rounded to nearest, ties to even, saturating.
func sum(h1 int64, l1 uint64, h2 int64, l2 uint64) Q {
	if half := h1>>1 + h2>>1; half >= 1<<61 || half < -1<<61 { // the sum itself may wrap here
		return saturate(half < 0)
	}
	lo, carry := bits.Add64(l1, l2, 0)
	hi := h1 + h2 + int64(carry)
	lo, carry = bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	hi += int64(carry)
	if hi != int64(int32(hi)) {
		return saturate(hi < 0)
	}
	return Q(hi<<32 | int64(lo>>32))
}

// DotSign returns the exact sign of the dot product: -1, 0 or 1.
func (v Vec2) DotSign(o Vec2) int {
	return compareProducts(
		magnitude(int64(v.X)), magnitude(int64(o.X)), v.X^o.X < 0,
		magnitude(int64(v.Y)), magnitude(int64(o.Y)), v.Y^o.Y >= 0)
}

// CrossSign returns the exact sign of the cross product: 1 if o is to the left of v, -1 to the right, 0 on its line.
func (v Vec2) CrossSign(o Vec2) int {
	return compareProducts(
		magnitude(int64(v.X)), magnitude(int64(o.Y)), v.X^o.Y < 0,
		magnitude(int64(v.Y)), magnitude(int64(o.X)), v.Y^o.X < 0)
}

// Orient2D returns 1 if a, b, c turn left, -1 if they turn right, 0 if they are on one line. It is exact for all points.
func Orient2D(a, b, c Vec2) int {
	return compareProducts(
		distance(a.X, b.X), distance(a.Y, c.Y), (b.X < a.X) != (c.Y < a.Y),
		distance(a.Y, b.Y), distance(a.X, c.X), (b.Y < a.Y) != (c.X < a.X))
}

// distance returns |a-b|.
func distance(a, b Q) uint64 {
	d := uint64(a) - uint64(b)
	if a < b { // a conditional move, no branch
		d = -d
	}
	return d
}

// compareProducts returns the sign of ±a·b - ±c·d, given magnitudes and whether each product is negative.
func compareProducts(a, b uint64, abNegative bool, c, d uint64, cdNegative bool) int {
	h1, l1 := bits.Mul64(a, b)
	h2, l2 := bits.Mul64(c, d)
	switch {
	case h1|l1 == 0 && h2|l2 == 0:
		return 0
	case abNegative != cdNegative:
		// If one product is zero, its sign is meaningless, and that of the other decides.
		if h1|l1 == 0 && !cdNegative || h1|l1 != 0 && abNegative {
			return -1
		}
		return 1
	case h1 == h2 && l1 == l2:
		return 0
	case (h1 < h2 || h1 == h2 && l1 < l2) != abNegative:
		return -1
	}
	return 1
}

// Len returns the length of v rounded to nearest, saturating.
func (v Vec2) Len() Q { return Hypot(v.X, v.Y) }

// InRange reports whether o is at most r away from v, exactly for all positions. It is false for a negative r.
func (v Vec2) InRange(o Vec2, r Q) bool {
	if narrow {
		x, y := v.X-o.X, v.Y-o.Y
		if (v.X^o.X)&(v.X^x)|(v.Y^o.Y)&(v.Y^y)|r >= 0 { // neither difference wrapped, r is not negative
			if less, more := compareSeed(int64(x), int64(y), int64(r)); less != more {
				return less
			}
		}
	}
	return v.inRangeExact(o, r)
}

// inRangeExact is InRange without floats.
func (v Vec2) inRangeExact(o Vec2, r Q) bool {
	x, y := distance(v.X, o.X), distance(v.Y, o.Y)
	hi, lo := bits.Mul64(x, x)
	h, l := bits.Mul64(y, y)
	lo, carry := bits.Add64(lo, l, 0)
	hi, top := bits.Add64(hi, h, carry)
	h, l = bits.Mul64(uint64(r), uint64(r))
	_, less := bits.Sub64(l, lo, 0)
	_, less = bits.Sub64(h, hi, less)
	return top|less|uint64(r)>>63 == 0
}

// CompareDistance returns -1 if a is nearer to v than b, 1 if b is nearer, 0 if both are equally far. It is exact.
func (v Vec2) CompareDistance(a, b Vec2) int {
	t1, h1, l1 := squares(distance(v.X, a.X), distance(v.Y, a.Y))
	t2, h2, l2 := squares(distance(v.X, b.X), distance(v.Y, b.Y))
	switch {
	case t1 == t2 && h1 == h2 && l1 == l2:
		return 0
	case t1 < t2 || t1 == t2 && (h1 < h2 || h1 == h2 && l1 < l2):
		return -1
	}
	return 1
}

// Lerp returns v + (o-v)·t, each component by [Lerp].
func (v Vec2) Lerp(o Vec2, t Q) Vec2 { return Vec2{Lerp(v.X, o.X, t), Lerp(v.Y, o.Y, t)} }

// Rotate returns v turned by t, with one rounding of each component besides those of sine and cosine.
func (v Vec2) Rotate(t Turn) Vec2 {
	s, c := t.SinCos()
	return Vec2{v.Dot(Vec2{c, -s}), v.Dot(Vec2{s, c})}
}

// MoveToward returns v moved towards target by step, or target if it is within step. It returns v if step ≤ 0.
func (v Vec2) MoveToward(target Vec2, step Q) Vec2 {
	if step <= 0 {
		return v
	}
	if v.InRange(target, step) {
		return target
	}
	way := Vec2{target.X - v.X, target.Y - v.Y}
	if (target.X^v.X)&(target.X^way.X)|(target.Y^v.Y)&(target.Y^way.Y) < 0 { // wrapped: half of it points the same way
		way = Vec2{target.X>>1 - v.X>>1, target.Y>>1 - v.Y>>1}
	}
	return v.Add(way.withLength(step))
}

// ClampLen returns v, shortened to limit if it is longer.
func (v Vec2) ClampLen(limit Q) Vec2 {
	limit = max(limit, 0)
	if (Vec2{}).InRange(v, limit) {
		return v
	}
	return v.withLength(limit)
}

// Heading returns the direction of v, and 0 for the zero vector.
func (v Vec2) Heading() Turn { return Atan2(v.Y, v.X) }
