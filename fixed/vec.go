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

// Vec3 is a point or a displacement in space; Z is up.
type Vec3 struct{ X, Y, Z Q }

// Add returns v+o, saturating.
func (v Vec3) Add(o Vec3) Vec3 { return Vec3{v.X.Add(o.X), v.Y.Add(o.Y), v.Z.Add(o.Z)} }

// Sub returns v-o, saturating.
func (v Vec3) Sub(o Vec3) Vec3 { return Vec3{v.X.Sub(o.X), v.Y.Sub(o.Y), v.Z.Sub(o.Z)} }

// Scale returns v·k, each component by Mul.
func (v Vec3) Scale(k Q) Vec3 { return Vec3{v.X.Mul(k), v.Y.Mul(k), v.Z.Mul(k)} }

// XY returns v without its height.
func (v Vec3) XY() Vec2 { return Vec2{v.X, v.Y} }

// Lerp returns v + (o-v)·t, each component by [Lerp].
func (v Vec3) Lerp(o Vec3, t Q) Vec3 {
	return Vec3{Lerp(v.X, o.X, t), Lerp(v.Y, o.Y, t), Lerp(v.Z, o.Z, t)}
}

// InRange reports whether o is at most r away from v, exactly for all positions. It is false for a negative r.
func (v Vec3) InRange(o Vec3, r Q) bool {
	if r < 0 {
		return false
	}
	top, hi, lo := squares(distance(v.X, o.X), distance(v.Y, o.Y))
	z := distance(v.Z, o.Z)
	h, l := bits.Mul64(z, z)
	lo, carry := bits.Add64(lo, l, 0)
	hi, carry = bits.Add64(hi, h, carry)
	h, l = bits.Mul64(uint64(r), uint64(r))
	_, less := bits.Sub64(l, lo, 0)
	_, less = bits.Sub64(h, hi, less)
	return top|carry|less == 0
}

// Normalize returns the vector of length 1 in the direction of v, each component correctly rounded. The zero vector stays zero.
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
