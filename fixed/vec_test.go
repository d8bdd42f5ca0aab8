package fixed_test

import (
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// vectors calls f with n pairs of vectors, edges and random ones.
func vectors(t *testing.T, seed uint64, n int, f func(v, o fixed.Vec2)) {
	n = few(t, n)
	all := inputs(seed, 4*n)
	r := fixed.NewRand(seed)
	for range n {
		pick := func() fixed.Q { return fixed.Pick(&r, all) }
		v, o := fixed.Vec2{X: pick(), Y: pick()}, fixed.Vec2{X: pick(), Y: pick()}
		f(v, o)
		f(v, fixed.Vec2{X: -v.Y, Y: v.X}) // at a right angle
		f(v, v)
	}
}

func dotBig(v, o fixed.Vec2) *big.Int {
	return addBig(mulBig(integer(v.X), integer(o.X)), mulBig(integer(v.Y), integer(o.Y)))
}

func crossBig(v, o fixed.Vec2) *big.Int {
	return subBig(mulBig(integer(v.X), integer(o.Y)), mulBig(integer(v.Y), integer(o.X)))
}

// squareBig returns the square of the distance.
func squareBig(v, o fixed.Vec2) *big.Int {
	x, y := subBig(integer(v.X), integer(o.X)), subBig(integer(v.Y), integer(o.Y))
	return addBig(mulBig(x, x), mulBig(y, y))
}

func TestProducts(t *testing.T) {
	skipOverflowBuild(t)
	vectors(t, 51, 30_000, func(v, o fixed.Vec2) {
		if got, want := v.Dot(o), quotient(dotBig(v, o), two32); got != want {
			t.Fatalf("%d Dot %d = %d, want %d", v, o, got, want)
		}
		if got, want := v.Cross(o), quotient(crossBig(v, o), two32); got != want {
			t.Fatalf("%d Cross %d = %d, want %d", v, o, got, want)
		}
		if got, want := v.DotSign(o), dotBig(v, o).Sign(); got != want {
			t.Fatalf("%d DotSign %d = %d, want %d", v, o, got, want)
		}
		if got, want := v.CrossSign(o), crossBig(v, o).Sign(); got != want {
			t.Fatalf("%d CrossSign %d = %d, want %d", v, o, got, want)
		}
		if got, want := v.Add(o), (fixed.Vec2{X: v.X.Add(o.X), Y: v.Y.Add(o.Y)}); got != want {
			t.Fatalf("%d Add %d = %d, want %d", v, o, got, want)
		}
		if got, want := v.Sub(o), (fixed.Vec2{X: v.X.Sub(o.X), Y: v.Y.Sub(o.Y)}); got != want {
			t.Fatalf("%d Sub %d = %d, want %d", v, o, got, want)
		}
	})
}

func TestOrient2D(t *testing.T) {
	check := func(a, b, c fixed.Vec2) {
		x1, y1 := subBig(integer(b.X), integer(a.X)), subBig(integer(b.Y), integer(a.Y))
		x2, y2 := subBig(integer(c.X), integer(a.X)), subBig(integer(c.Y), integer(a.Y))
		want := subBig(mulBig(x1, y2), mulBig(y1, x2)).Sign()
		if got := fixed.Orient2D(a, b, c); got != want {
			t.Fatalf("Orient2D(%d, %d, %d) = %d, want %d", a, b, c, got, want)
		}
	}
	all := inputs(52, 1000)
	i := 0
	vectors(t, 53, 30_000, func(v, o fixed.Vec2) {
		check(v, o, fixed.Vec2{X: all[i%1000], Y: all[(i*7+3)%1000]})
		check(v, o, v)
		middle := fixed.Vec2{X: v.X>>1 + o.X>>1, Y: v.Y>>1 + o.Y>>1} // on the line, or next to it
		check(v, o, middle)
		check(middle, v, o)
		i++
	})
}

func TestDistances(t *testing.T) {
	radii := inputs(54, 50_000)
	i := 0
	vectors(t, 55, 30_000, func(v, o fixed.Vec2) {
		square := squareBig(v, o)
		around := root(square)
		near := fixed.Vec2{X: v.X + 3, Y: o.Y}
		for _, r := range []fixed.Q{radii[i%50_000], around, max(around, 1) - 1, min(around, fixed.MaxQ-1) + 1, 0, -1} {
			want := r >= 0 && square.Cmp(mulBig(integer(r), integer(r))) <= 0
			if got := v.InRange(o, r); got != want {
				t.Fatalf("%d InRange(%d, %d) = %t, want %t", v, o, r, got, want)
			}
			if got := fixed.InRangeExact(v, o, r); got != want {
				t.Fatalf("%d inRangeExact(%d, %d) = %t, want %t", v, o, r, got, want)
			}
		}
		if got, want := v.CompareDistance(o, near), square.Cmp(squareBig(v, near)); got != want {
			t.Fatalf("%d CompareDistance(%d, %d) = %d, want %d", v, o, near, got, want)
		}
		i++
	})
}

// unit returns component·n/length of v, rounded to nearest, by big numbers: with 600 bits no real tie looks like one.
func unit(component fixed.Q, v fixed.Vec2, n fixed.Q) fixed.Q {
	length := new(big.Float).SetPrec(600).SetInt(dotBig(v, v))
	length.Sqrt(length)
	x := new(big.Float).SetPrec(600).SetInt(mulBig(integer(component), integer(n)))
	x.Quo(x, length)
	half := big.NewFloat(0.5)
	if component < 0 {
		half.Neg(half)
	}
	r, _ := x.Add(x, half).Int(nil)
	return saturated(r)
}

func TestNormalize(t *testing.T) {
	vectors(t, 56, 10_000, func(v, _ fixed.Vec2) {
		var want fixed.Vec2
		if v != want {
			want = fixed.Vec2{X: unit(v.X, v, fixed.One), Y: unit(v.Y, v, fixed.One)}
		}
		if got := v.Normalize(); got != want {
			t.Fatalf("%d Normalize = %d, want %d", v, got, want)
		}
	})
}

func TestClampLen(t *testing.T) {
	limits := inputs(57, 20_000)
	i := 0
	vectors(t, 58, 10_000, func(v, _ fixed.Vec2) {
		limit := limits[i%20_000]
		i++
		want := v
		if limit = max(limit, 0); dotBig(v, v).Cmp(mulBig(integer(limit), integer(limit))) > 0 {
			want = fixed.Vec2{X: unit(v.X, v, limit), Y: unit(v.Y, v, limit)}
		}
		if got := v.ClampLen(limit); got != want {
			t.Fatalf("%d ClampLen(%d) = %d, want %d", v, limit, got, want)
		}
	})
}

func TestMoveToward(t *testing.T) {
	skipOverflowBuild(t)
	at, goal := fixed.Vec2{}, fixed.Vec2{X: 3 * fixed.One, Y: 4 * fixed.One}
	for i, want := range []fixed.Q{fixed.One, 2 * fixed.One, 3 * fixed.One, 4 * fixed.One, 5 * fixed.One, 5 * fixed.One} {
		at = at.MoveToward(goal, fixed.One)
		if got := at.Len(); (got - want).Abs() > 4 {
			t.Errorf("after %d steps the length is %v, want %v", i+1, got, want)
		}
	}
	if at != goal {
		t.Errorf("arrived at %v, want %v", at, goal)
	}
	steps := inputs(60, 20_000)
	i := 0
	vectors(t, 59, 10_000, func(v, o fixed.Vec2) {
		step := max(steps[i%20_000].Abs(), 1)
		i++
		way := fixed.Vec2{X: o.X>>2 - v.X>>2, Y: o.Y>>2 - v.Y>>2} // the direction, without wrapping
		want := o
		if squareBig(v, o).Cmp(mulBig(integer(step), integer(step))) > 0 {
			if way.X.Abs() < fixed.One || way.Y.Abs() < fixed.One {
				return // too short to tell the direction
			}
			want = fixed.Vec2{X: v.X.Add(unit(way.X, way, step)), Y: v.Y.Add(unit(way.Y, way, step))}
		}
		got := v.MoveToward(o, step)
		if off := max((got.X - want.X).Abs(), (got.Y - want.Y).Abs()); off > 1+step>>30 {
			t.Fatalf("%d MoveToward(%d, %d) = %d, want about %d", v, o, step, got, want)
		}
	})
	if got := at.MoveToward(fixed.Vec2{}, -1); got != at {
		t.Errorf("a negative step moved to %v, want %v", got, at)
	}
}

func TestRotate(t *testing.T) {
	v := fixed.Vec2{X: 3 * fixed.One, Y: -5 * fixed.One}
	for _, row := range []struct {
		by   fixed.Turn
		want fixed.Vec2
	}{
		{0, v}, {fixed.QuarterTurn, fixed.Vec2{X: -v.Y, Y: v.X}}, {fixed.HalfTurn, fixed.Vec2{X: -v.X, Y: -v.Y}},
		{3 * fixed.QuarterTurn, fixed.Vec2{X: v.Y, Y: -v.X}},
	} {
		if got := v.Rotate(row.by); got != row.want {
			t.Errorf("%v rotated by %v = %v, want %v", v, row.by, got, row.want)
		}
	}
	r := fixed.NewRand(59)
	for range 10_000 {
		heading := fixed.Turn(r.Uint32())
		if got := fixed.Polar(heading, 1000*fixed.One).Heading(); max(heading.Diff(got), got.Diff(heading)) > 1 {
			t.Fatalf("heading of a vector towards %v = %v", heading, got)
		}
	}
}

func TestToward(t *testing.T) {
	q := fixed.QuarterTurn // a variable: as a constant -q would not compile
	for _, row := range []struct{ from, target, limit, want fixed.Turn }{
		{0, q, q / 2, q / 2}, {0, q, q, q}, {0, q, 2 * q, q}, {q, 0, q / 2, q / 2}, {q / 2, -(q / 2), q / 4, q / 4},
		{-(q / 2), q / 2, q, q / 2}, {0, 2 * q, 1, 1<<32 - 1}, {5, 5, 0, 5}, {5, 9, 0, 5},
	} {
		if got := row.from.Toward(row.target, row.limit); got != row.want {
			t.Errorf("%d Toward(%d, %d) = %d, want %d", row.from, row.target, row.limit, got, row.want)
		}
	}
}

func TestVec3(t *testing.T) {
	a, b := fixed.Vec3{X: 1, Y: 2, Z: 3}, fixed.Vec3{X: 10, Y: 20, Z: 31}
	for _, row := range []struct{ got, want fixed.Vec3 }{
		{a.Add(b), fixed.Vec3{X: 11, Y: 22, Z: 34}},
		{b.Sub(a), fixed.Vec3{X: 9, Y: 18, Z: 28}},
		{b.Scale(2 * fixed.One), fixed.Vec3{X: 20, Y: 40, Z: 62}},
		{a.Lerp(b, fixed.One/3), fixed.Vec3{X: 4, Y: 8, Z: 12}},
	} {
		if row.got != row.want {
			t.Errorf("got %d, want %d", row.got, row.want)
		}
	}
	if got, want := b.XY(), (fixed.Vec2{X: 10, Y: 20}); got != want {
		t.Errorf("XY = %d, want %d", got, want)
	}
}

func TestVec3InRange(t *testing.T) {
	r := fixed.NewRand(57)
	heights := inputs(57, 20_000)
	vectors(t, 58, 20_000, func(a, b fixed.Vec2) {
		v := fixed.Vec3{X: a.X, Y: a.Y, Z: fixed.Pick(&r, heights)}
		o := fixed.Vec3{X: b.X, Y: b.Y, Z: fixed.Pick(&r, heights)}
		z := subBig(integer(v.Z), integer(o.Z))
		square := addBig(squareBig(a, b), mulBig(z, z))
		around := root(square)
		for _, radius := range []fixed.Q{
			fixed.Pick(&r, heights), around, max(around, 1) - 1, min(around, fixed.MaxQ-1) + 1, fixed.MaxQ, 0, -1,
		} {
			want := radius >= 0 && square.Cmp(mulBig(integer(radius), integer(radius))) <= 0
			if got := v.InRange(o, radius); got != want {
				t.Fatalf("%d InRange(%d, %d) = %t, want %t", v, o, radius, got, want)
			}
		}
	})
}
