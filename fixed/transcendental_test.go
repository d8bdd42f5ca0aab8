package fixed_test

import (
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// bounds is the promise of each function beyond plain arithmetic: the error over its whole range, in units of 2^-32.
// Pow is judged where its result has at most 32 bits more than a one, see its doc.
var bounds = []struct {
	name   string
	n      int
	limit  float64
	inputs func(seed uint64, n int) []fixed.Q
	got    func(x fixed.Q) fixed.Q
	want   func(x *big.Float) *big.Float
}{
	{"SinRadians", 1000, 0.5 + 1./(1<<27), inputs, fixed.SinRadians, sinRadians},
	{"CosRadians", 1000, 0.5 + 1./(1<<27), inputs, fixed.CosRadians, func(x *big.Float) *big.Float {
		return bigCos(withoutTurns(x))
	}},
	{"Exp2", 1000, 0.51, exponents, fixed.Exp2, bigExp2},
	{"Exp", 1000, 0.75, exponents, fixed.Exp, func(x *big.Float) *big.Float {
		return bigExp2(new(big.Float).Quo(x, bigLog(bigFloat(2))))
	}},
	{"Log2", 1000, 0.5 + 1./(1<<20), positive, fixed.Log2, bigLog2},
	{"Log", 1000, 0.5 + 1./(1<<20), positive, fixed.Log, bigLog},
}

// withoutTurns returns an angle less its whole turns.
func withoutTurns(x *big.Float) *big.Float {
	tau := bigScale(bigPi(), 1)
	n, _ := new(big.Float).Quo(x, tau).Int(nil)
	return new(big.Float).Sub(x, new(big.Float).Mul(tau, bigFloat(0).SetInt(n)))
}

func sinRadians(x *big.Float) *big.Float { return bigSin(withoutTurns(x)) }

// exponents are inputs whose power of two, and of e, fits.
func exponents(seed uint64, n int) []fixed.Q {
	all := inputs(seed, n)
	for i, x := range all {
		all[i] = x % (21 * fixed.One)
		if i%4 == 0 {
			all[i] = (30*fixed.One + x%fixed.One) / 3 * 2 // near the top, for both: 20 and its neighbourhood
		}
	}
	return all
}

func positive(seed uint64, n int) []fixed.Q {
	all := inputs(seed, n)
	for i, x := range all {
		all[i] = max(x.Abs(), 1)
	}
	return all
}

func TestBounds(t *testing.T) {
	skipOverflowBuild(t)
	for _, f := range bounds {
		t.Run(f.name, func(t *testing.T) {
			worst, at := 0.0, fixed.Q(0)
			for _, x := range f.inputs(21, few(t, f.n)) {
				if e := ulps(f.got(x), f.want(real(x))); e > worst {
					worst, at = e, x
				}
			}
			t.Logf("worst error %.9f at %d", worst, at)
			if worst > f.limit {
				t.Errorf("error %.9f at %d, want at most %.9f", worst, at, f.limit)
			}
		})
	}
}

// TestExp2Top tests the range in which a result has all 63 bits: 30 <= x < 31.
func TestExp2Top(t *testing.T) {
	r := fixed.NewRand(5)
	worst := 0.0
	for range few(t, 1000) {
		x := r.Range(30*fixed.One, 31*fixed.One)
		worst = max(worst, ulps(fixed.Exp2(x), bigExp2(real(x))))
	}
	t.Logf("worst error %.9f", worst)
	if worst > 0.51 {
		t.Errorf("error %.9f, want at most 0.51", worst)
	}
}

func TestDirections(t *testing.T) {
	skipOverflowBuild(t)
	pi := bigPi()
	worst, worstRadians := 0.0, 0.0
	pairs(t, 31, 500, func(y, x fixed.Q) {
		angle := bigAtan2(bigFloat(int64(y)), bigFloat(int64(x)))
		e := ulps(fixed.Atan2Radians(y, x), angle)
		turns := bigScale(new(big.Float).Quo(angle, pi), -1)
		f := ulps(fixed.Q(int32(fixed.Atan2(y, x))), turns) // -1/2..1/2
		if f > 1<<31 {                                      // half a turn is minus half a turn
			f = 1<<32 - f
		}
		if e > 0.5000001 || f > 0.5000001 {
			t.Errorf("direction of y %d, x %d: errors %.9f (turns) and %.9f (radians), want at most 0.5000001", y, x, f, e)
		}
		worst, worstRadians = max(worst, f), max(worstRadians, e)
		if fixed.Atan2(y, x) != fixed.Atan2Slow(y, x) || fixed.Atan2Radians(y, x) != fixed.Atan2RadiansSlow(y, x) {
			t.Errorf("direction of y %d, x %d differs without floats", y, x)
		}
	})
	t.Logf("worst errors %.9f (turns), %.9f (radians)", worst, worstRadians)
}

// TestQuickWays compares every function that begins with a float with its exact way, on more inputs than the oracles
// can handle. The bits are the same everywhere because the float decides nothing.
func TestQuickWays(t *testing.T) {
	skipOverflowBuild(t)
	lengths := inputs(41, 500_000)
	i := 0
	pairs(t, 43, 300_000, func(x, y fixed.Q) {
		n := max(lengths[i].Abs(), 0)
		i++
		if got, want := x.Div(y), fixed.DivSlow(x, y); got != want {
			t.Fatalf("Div(%d, %d) = %d, want %d", x, y, got, want)
		}
		if got, want := fixed.Atan2(y, x), fixed.Atan2Slow(y, x); got != want {
			t.Fatalf("Atan2(%d, %d) = %d, want %d", y, x, got, want)
		}
		if got, want := fixed.Atan2Radians(y, x), fixed.Atan2RadiansSlow(y, x); got != want {
			t.Fatalf("Atan2Radians(%d, %d) = %d, want %d", y, x, got, want)
		}
		v := fixed.Vec2{X: x, Y: y}
		if v == (fixed.Vec2{}) {
			return
		}
		if got, want := v.Normalize(), fixed.WithLengthSlow(v, fixed.One); got != want {
			t.Fatalf("Normalize(%d) = %d, want %d", v, got, want)
		}
		if got, want := fixed.WithLength(v, n), fixed.WithLengthSlow(v, n); got != want && n != 0 {
			t.Fatalf("withLength(%d, %d) = %d, want %d", v, n, got, want)
		}
	})
}

// TestQuickSines compares the sines that begin with a float with those from the table.
// An error beyond what certain allows would show: it is 2^-10 of a unit, and there are many more inputs.
func TestQuickSines(t *testing.T) {
	unsure := 0
	check := func(name string, at, got, want fixed.Q, sure bool) {
		if !sure {
			unsure++
		} else if got != want {
			t.Fatalf("%s(%d) = %d, want %d", name, at, got, want)
		}
	}
	const step = 2003 // a prime, so that every place has its turn
	n := 0
	for turn := uint64(0); turn < 1<<32; turn += step {
		n++
		got, sure := fixed.SineQuick(fixed.Turn(turn))
		check("Sin", fixed.Q(turn), got, fixed.SineTable(fixed.Turn(turn)), sure)
	}
	r := fixed.NewRand(12)
	for i := range int64(500_000) {
		n++
		x := r.Range(-64*fixed.One, 64*fixed.One)
		if i < 1000 { // the ends, and around 0
			x = [2]fixed.Q{64*fixed.One - 1, 0}[i&1] - fixed.Q(i>>1)
		}
		got, sure := fixed.RadiansQuick(x, int32(i>>1&1))
		check("SinRadians", x, got, fixed.RadiansTable(x, uint64(i>>1&1)), sure)
	}
	if unsure > n/500 {
		t.Errorf("%d of %d sines are unsure, want at most one of 500", unsure, n)
	}
}

func TestAsinAcos(t *testing.T) {
	r := fixed.NewRand(6)
	for i := range few(t, 1000) {
		x := r.Range(-fixed.One, fixed.One+1)
		if i%3 == 0 { // where the derivative is infinite
			x = fixed.One - r.Range(0, 1000)
		}
		cathetus := new(big.Float).Sqrt(new(big.Float).Sub(bigFloat(1), new(big.Float).Mul(real(x), real(x))))
		perTurn := bigScale(bigPi(), 1)
		asin := new(big.Float).Quo(bigAtan2(real(x), cathetus), perTurn)
		acos := new(big.Float).Quo(bigAtan2(cathetus, real(x)), perTurn)
		if e := ulps(fixed.Q(int32(fixed.Asin(x))), asin); e > 0.500001 {
			t.Errorf("Asin(%d): error %.9f, want at most 0.500001", x, e)
		}
		if e := ulps(fixed.Q(fixed.Acos(x)), acos); e > 0.500001 {
			t.Errorf("Acos(%d): error %.9f, want at most 0.500001", x, e)
		}
	}
}

// TestPow checks the relative error, as the error of the logarithm grows with y.
func TestPow(t *testing.T) {
	r := fixed.NewRand(8)
	worst := 0.0
	for range few(t, 1000) {
		x, y := r.Range(1, 64*fixed.One)>>r.N(30)+1, r.Range(-8*fixed.One, 8*fixed.One)
		want := bigExp2(new(big.Float).Mul(real(y), bigLog2(real(x))))
		if want.Cmp(bigFloat(1<<31-1)) >= 0 {
			continue
		}
		e := ulps(fixed.Pow(x, y), want) - 0.5
		size, _ := want.Float64()
		worst = max(worst, e/max(size, 1))
	}
	t.Logf("worst error beyond half a unit: %.9f units for a result of 1", worst)
	if limit := 1. / (1 << 20); worst > limit {
		t.Errorf("error beyond half a unit %.9f, want at most %.9f for a result of 1", worst, limit)
	}
}

func TestTan(t *testing.T) {
	skipOverflowBuild(t)
	r := fixed.NewRand(9)
	for range few(t, 100_000) {
		turn := fixed.Turn(r.Uint32())
		if got, want := turn.Tan(), turn.Sin().Div(turn.Cos()); got != want {
			t.Fatalf("Tan of turn %d = %d, want %d", turn, got, want)
		}
	}
	if got := fixed.QuarterTurn.Tan(); got != fixed.MaxQ {
		t.Errorf("Tan of a quarter = %d, want MaxQ", got)
	}
	if got := (3 * fixed.QuarterTurn).Tan(); got != fixed.MinQ {
		t.Errorf("Tan of three quarters = %d, want MinQ", got)
	}
}
