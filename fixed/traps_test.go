package fixed_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// TestTraps checks inputs that other fixed-point libraries get wrong.
func TestTraps(t *testing.T) {
	skipOverflowBuild(t)
	const one, minQ, maxQ = fixed.One, fixed.MinQ, fixed.MaxQ
	_, cosTop := fixed.Turn(1<<32 - 1).SinCos()
	for _, row := range []struct {
		trap      string
		got, want fixed.Q
	}{
		{"root of a number above 2^30", fixed.FromInt(1<<30 + 1).Sqrt(), fixed.MustParse("32768.0000152588")},
		{"root of the greatest", maxQ.Sqrt(), 199032864766430},
		{"root just below one", (one - 1).Sqrt(), one - 1},
		{"root of the least", fixed.Q(1).Sqrt(), 1 << 16},
		{"root of a negative", (-one).Sqrt(), 0},
		{"hypot of the farthest", fixed.Hypot(minQ, minQ), maxQ},
		{"hypot of the least", fixed.Hypot(1, 1), 1},
		{"hypot that a square loses", fixed.Hypot(3, 4), 5},
		{"cosine at the top of the range", fixed.Turn(1<<32 - 1).Cos(), one},
		{"cosine at the top of the range, with the sine", cosTop, one},
		{"cosine of the greatest radians", fixed.CosRadians(maxQ), 1021412777},
		{"sine of the farthest radians", fixed.SinRadians(minQ), 4171745439},
		{"sine of a half turn", fixed.HalfTurn.Sin(), 0},
		{"sine of a quarter", fixed.QuarterTurn.Sin(), one},
		{"cosine of a quarter", fixed.QuarterTurn.Cos(), 0},
		{"direction of nothing", fixed.Q(fixed.Atan2(0, 0)), 0},
		{"direction of +X", fixed.Q(fixed.Atan2(0, 1)), 0},
		{"direction of -X", fixed.Q(fixed.Atan2(0, minQ)), 1 << 31},
		{"direction of +Y", fixed.Q(fixed.Atan2(1, 0)), 1 << 30},
		{"direction of -Y", fixed.Q(fixed.Atan2(minQ, 0)), 3 << 30},
		{"direction just above +X", fixed.Q(fixed.Atan2(1, maxQ)), 0},
		{"direction just below -X", fixed.Q(fixed.Atan2(-1, minQ)), 1 << 31},
		{"direction next to an axis", fixed.Q(fixed.Atan2(one, 100_000*one)), 6836},
		{"direction of the diagonal", fixed.Q(fixed.Atan2(minQ, minQ)), 5 << 29},
		{"radians of -X", fixed.Atan2Radians(0, -1), 13493037705},
		{"radians just below -X", fixed.Atan2Radians(-1, minQ), -13493037705},
		{"arc sine of one", fixed.Q(fixed.Asin(one)), 1 << 30},
		{"arc sine of minus one", fixed.Q(fixed.Asin(-one)), 3 << 30},
		{"arc sine beyond one", fixed.Q(fixed.Asin(maxQ)), 1 << 30},
		{"arc cosine of one", fixed.Q(fixed.Acos(one)), 0},
		{"arc cosine of minus one", fixed.Q(fixed.Acos(minQ)), 1 << 31},
		{"negation of the least", minQ.Abs(), maxQ},
		{"least by minus one", minQ.Div(-one), maxQ},
		{"least modulo minus one unit", minQ.Mod(-1), 0},
		{"modulo of a negative", (-one).Mod(3 * one), 2 * one},
		{"modulo by zero", one.Mod(0), 0},
		{"division by zero", one.Div(0), maxQ},
		{"negative by zero", (-one).Div(0), minQ},
		{"zero by zero", fixed.Q(0).Div(0), 0},
		{"far stays far", (100_000 * one).Mul(100_000 * one), maxQ},
		{"a tie to even, down", fixed.Q(1).Mul(fixed.Half), 0},
		{"a tie to even, up", fixed.Q(3).Mul(fixed.Half), 2},
		{"mirrored, a tie to even", fixed.Q(-3).Mul(fixed.Half), -2},
		{"whole numbers are not raw ones", fixed.FromInt(3), 3 * one},
		{"a whole number that does not fit", fixed.FromInt(1 << 31), maxQ},
		{"power to nothing", fixed.Pow(0, 0), one},
		{"nothing to a power", fixed.Pow(0, one), 0},
		{"nothing to a negative power", fixed.Pow(0, -one), maxQ},
		{"negative to a whole power", fixed.Pow(-2*one, 3*one), -8 * one},
		{"negative to half a power", fixed.Pow(-2*one, fixed.Half), 0},
		{"power of a whole power", fixed.Pow(2*one, 10*one), 1024 * one},
		{"2 to the 31st", fixed.Exp2(31 * one), maxQ},
		{"half of the least unit", fixed.Exp2(-33 * one), 0},
		{"logarithm of nothing", fixed.Log2(0), minQ},
		{"lerp across the whole range", fixed.Lerp(minQ, maxQ, one), maxQ},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %d, want %d", row.trap, row.got, row.want)
		}
	}
}

// TestMirror: two players' moves at opposite ends of a map must be mirrored to the bit.
func TestMirror(t *testing.T) {
	skipOverflowBuild(t)
	pairs(t, 81, 50_000, func(x, y fixed.Q) {
		if x == fixed.MinQ || y == fixed.MinQ {
			return // has no mirror image
		}
		mirrored := func(name string, got, want fixed.Q) {
			if got != -want && want != fixed.MinQ && want != fixed.MaxQ {
				t.Fatalf("%s of -%d and %d = %d, want %d", name, x, y, got, -want)
			}
		}
		mirrored("Mul", (-x).Mul(y), x.Mul(y))
		mirrored("Div", (-x).Div(y), x.Div(y))
		mirrored("Round", (-x).Round(), x.Round())
		mirrored("Sin", (-fixed.Turn(x)).Sin(), fixed.Turn(x).Sin())
		mirrored("SinRadians", fixed.SinRadians(-x), fixed.SinRadians(x))
		mirrored("CosRadians", fixed.CosRadians(-x), -fixed.CosRadians(x))
		v, w := fixed.Vec2{X: x, Y: y}.Normalize(), fixed.Vec2{X: -x, Y: -y}.Normalize()
		mirrored("Normalize", w.X, v.X)
		mirrored("Normalize", w.Y, v.Y)
	})
}

// TestNeighbours: one wrong table entry, or two pieces that do not meet, would make a step in a smooth function.
func TestNeighbours(t *testing.T) {
	for _, bend := range bends() {
		t.Error(bend)
	}
	mend := fixed.Damage()
	defer mend()
	if len(bends()) == 0 {
		t.Error("a wrong table entry is not found")
	}
}

// bends returns where a function bends more than it should, around the borders of its pieces.
func bends() (all []string) {
	check := func(name string, f func(fixed.Q) fixed.Q, x, step fixed.Q) {
		// The true bend is below 0.1 unit, three roundings add 2.
		if bend := f(x+step) - f(x) - (f(x) - f(x-step)); bend.Abs() > 2 {
			all = append(all, fmt.Sprintf("%s bends by %d around %d", name, bend, x))
		}
	}
	for i := range fixed.Q(1 << 12) {
		check("Sin", func(x fixed.Q) fixed.Q { return fixed.SineTable(fixed.Turn(x)) }, i<<20, 1<<10) // every fourth is a border
	}
	for i := fixed.Q(1); i < 1<<9; i++ { // every second is a border
		check("Log2", func(x fixed.Q) fixed.Q { return fixed.Log2(fixed.One + x) }, i<<23, 1<<10)
		check("Atan2", func(x fixed.Q) fixed.Q { return fixed.Q(fixed.Atan2(x, fixed.One)) }, i<<23, 1<<10)
		check("Exp2", fixed.Exp2, i<<23, 1<<10)
	}
	return all
}
