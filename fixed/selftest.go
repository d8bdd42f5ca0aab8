package fixed

// SelfTest returns a hash over some hundred results of this package, the same on every correct machine, for lockstep.Rules.SelfTest.
func SelfTest() uint64 {
	sum := uint64(5)
	add := func(values ...Q) {
		for _, v := range values {
			sum = (sum ^ uint64(v)) * 0x9e3779b97f4a7c15
			sum ^= sum >> 29
		}
	}
	r := NewRand(2027)
	for i := range int64(16) {
		x := r.Range(-1000*One, 1000*One)
		y := r.Range(One/1000, 30*One)
		t := Turn(r.Uint32()) // any angle
		sin, cos := t.SinCos()
		v, w := Vec2{x, y}, Polar(t, y)
		add(x, y, x.Mul(y), x.Div(y), x.Mod(y), x.Round(), y.Sqrt(), RSqrt(y), Hypot(x, y), MulDiv(x, y, FromInt(i+1)))
		add(sin, cos, Q(Atan2(x, y)), Q(Asin(sin)), Q(Acos(cos)), SinRadians(x), CosRadians(x), Atan2Radians(y, x))
		add(Exp2(y), Log2(y), Exp(y/2), Log(y), Pow(y, One/3), Lerp(x, y, One/7))
		add(w.X, w.Y, v.Len(), v.Dot(w), v.Cross(w), v.Normalize().X, v.ClampLen(One).Y, v.Rotate(t).X, v.MoveToward(w, One).Y)
		add(Q(v.CompareDistance(w, Vec2{y, x})), Q(Orient2D(v, w, Vec2{y, x})), Q(ISqrt64(r.Uint64())), Q(r.N(1000)))
		add(Q(Draw(1, uint32(i), 2, 3, 4)), DrawQ(5, 6, uint32(i), 7, 8))
	}
	return sum
}
