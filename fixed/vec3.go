package fixed

import "math/bits"

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
