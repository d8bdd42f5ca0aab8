package fixed_test

import (
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

var two32 = big.NewInt(1 << 32)

func mulBig(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
func addBig(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
func subBig(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// wrapped returns the low 64 bits of n.
func wrapped(n *big.Int) fixed.Q {
	return fixed.Q(new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64())
}

// arithmetic is every operation of two numbers whose exact result math/big can tell.
var arithmetic = []struct {
	name      string
	got, want func(x, y fixed.Q) fixed.Q
}{
	{"Add", fixed.Q.Add, func(x, y fixed.Q) fixed.Q { return saturated(addBig(integer(x), integer(y))) }},
	{"Sub", fixed.Q.Sub, func(x, y fixed.Q) fixed.Q { return saturated(subBig(integer(x), integer(y))) }},
	{"Mul", fixed.Q.Mul, func(x, y fixed.Q) fixed.Q { return quotient(mulBig(integer(x), integer(y)), two32) }},
	{"MulNarrow", fixed.MulNarrow, func(x, y fixed.Q) fixed.Q { return quotient(mulBig(integer(x), integer(y)), two32) }},
	{"MulWrap", fixed.Q.MulWrap, func(x, y fixed.Q) fixed.Q {
		product := mulBig(integer(x), integer(y))
		low := new(big.Int).Mod(product, new(big.Int).Lsh(two32, 1)) // the bits that decide the rounding
		r := wrapped(new(big.Int).Rsh(product, 32))
		return r - fixed.Q(low.Int64()>>32) + quotient(low, two32)
	}},
	{"Div", fixed.Q.Div, func(x, y fixed.Q) fixed.Q { return quotient(mulBig(integer(x), two32), integer(y)) }},
	{"DivSlow", fixed.DivSlow, func(x, y fixed.Q) fixed.Q { return quotient(mulBig(integer(x), two32), integer(y)) }},
	{"Mod", fixed.Q.Mod, func(x, y fixed.Q) fixed.Q {
		if y == 0 {
			return 0
		}
		m := new(big.Int).Mod(integer(x), integer(y)) // 0..|y|-1
		if m.Sign() != 0 && y < 0 {
			m.Add(m, integer(y))
		}
		return saturated(m)
	}},
	{"Hypot", fixed.Hypot, func(x, y fixed.Q) fixed.Q {
		return root(addBig(mulBig(integer(x), integer(x)), mulBig(integer(y), integer(y))))
	}},
	{"Sqrt", func(x, _ fixed.Q) fixed.Q { return x.Sqrt() }, func(x, _ fixed.Q) fixed.Q {
		return root(mulBig(integer(max(x, 0)), two32))
	}},
	{"RSqrt", func(x, _ fixed.Q) fixed.Q { return fixed.RSqrt(x) }, rsqrt},
	{"RSqrtSlow", func(x, _ fixed.Q) fixed.Q {
		if x <= 0 {
			return fixed.RSqrt(x)
		}
		return fixed.RSqrtSlow(x)
	}, rsqrt},
	{"Floor", func(x, _ fixed.Q) fixed.Q { return x.Floor() }, func(x, _ fixed.Q) fixed.Q {
		return saturated(mulBig(new(big.Int).Div(integer(x), two32), two32))
	}},
	{"Ceil", func(x, _ fixed.Q) fixed.Q { return x.Ceil() }, func(x, _ fixed.Q) fixed.Q {
		n := new(big.Int).Div(integer(x).Neg(integer(x)), two32)
		return saturated(n.Neg(mulBig(n, two32)))
	}},
	{"Round", func(x, _ fixed.Q) fixed.Q { return x.Round() }, func(x, _ fixed.Q) fixed.Q {
		return saturated(mulBig(integer(quotient(integer(x), two32)), two32))
	}},
	{"Abs", func(x, _ fixed.Q) fixed.Q { return x.Abs() }, func(x, _ fixed.Q) fixed.Q {
		return saturated(new(big.Int).Abs(integer(x)))
	}},
	{"FromInt", func(x, _ fixed.Q) fixed.Q { return fixed.FromInt(int64(x)) }, func(x, _ fixed.Q) fixed.Q {
		return saturated(mulBig(integer(x), two32))
	}},
	{"Int", func(x, _ fixed.Q) fixed.Q { return fixed.Q(x.Int()) }, func(x, _ fixed.Q) fixed.Q {
		return saturated(new(big.Int).Div(integer(x), two32))
	}},
}

// rsqrt returns 2^48/√x rounded: of the two integers around the root of 2^96/x the one that is nearer.
func rsqrt(x, _ fixed.Q) fixed.Q {
	if x <= 0 {
		if x == 0 {
			return fixed.MaxQ
		}
		return 0
	}
	// floor(2·2^48/√x), then half of it rounded up: (n+1)/2, for no root is half-way.
	n := new(big.Int).Sqrt(new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), 98), integer(x)))
	return saturated(n.Rsh(n.Add(n, big.NewInt(1)), 1))
}

func TestArithmetic(t *testing.T) {
	skipOverflowBuild(t)
	for _, op := range arithmetic {
		t.Run(op.name, func(t *testing.T) {
			wrong := 0
			pairs(t, 7, 20_000, func(x, y fixed.Q) {
				if got, want := op.got(x, y), op.want(x, y); got != want && wrong < 5 {
					wrong++
					t.Errorf("%s(%d, %d) = %d, want %d", op.name, x, y, got, want)
				}
			})
		})
	}
}

func TestThreeNumbers(t *testing.T) {
	skipOverflowBuild(t)
	third := inputs(11, 40_000)
	i := 0
	pairs(t, 9, 20_000, func(x, y fixed.Q) {
		z := third[i]
		i++
		if got, want := fixed.MulDiv(x, y, z), quotient(mulBig(integer(x), integer(y)), integer(z)); got != want {
			t.Fatalf("MulDiv(%d, %d, %d) = %d, want %d", x, y, z, got, want)
		}
		sum := addBig(mulBig(integer(x), two32), mulBig(subBig(integer(y), integer(x)), integer(z)))
		if got, want := fixed.Lerp(x, y, z), quotient(sum, two32); got != want {
			t.Fatalf("Lerp(%d, %d, %d) = %d, want %d", x, y, z, got, want)
		}
		if got, want := fixed.Clamp(x, min(y, z), max(y, z)), min(max(x, min(y, z)), max(y, z)); got != want {
			t.Fatalf("Clamp(%d, %d, %d) = %d, want %d", x, min(y, z), max(y, z), got, want)
		}
	})
}

func TestIntegerRoots(t *testing.T) {
	check := func(hi, lo uint64) {
		n := addBig(new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64), new(big.Int).SetUint64(lo))
		if got, want := fixed.ISqrt128(hi, lo), new(big.Int).Sqrt(n).Uint64(); got != want {
			t.Fatalf("ISqrt128(%d, %d) = %d, want %d", hi, lo, got, want)
		}
		if got, want := fixed.ISqrt64(lo), new(big.Int).Sqrt(new(big.Int).SetUint64(lo)).Uint64(); got != want {
			t.Fatalf("ISqrt64(%d) = %d, want %d", lo, got, want)
		}
	}
	r := fixed.NewRand(3)
	for range few(t, 100_000) {
		check(r.Uint64()>>r.N(64), r.Uint64()>>r.N(64))
		n := r.Uint64() >> r.N(64) // around a square
		square := mulBig(new(big.Int).SetUint64(n), new(big.Int).SetUint64(n))
		hi, lo := new(big.Int).Rsh(square, 64).Uint64(), new(big.Int).And(square, new(big.Int).SetUint64(1<<64-1)).Uint64()
		check(hi, lo)
		if lo > 0 {
			check(hi, lo-1)
		}
	}
	for _, v := range []uint64{0, 1, 2, 3, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 2, 1<<64 - 1} {
		for _, w := range []uint64{0, 1, 2, 3, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 2, 1<<64 - 1} {
			check(v, w)
		}
	}
}

func TestCells(t *testing.T) {
	for _, row := range []struct{ a, b, want int64 }{
		{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {-8, 2, -4}, {0, 5, 0}, {-1, 1 << 40, -1}, {5, 0, 0},
	} {
		if got := fixed.FloorDiv(row.a, row.b); got != row.want {
			t.Errorf("FloorDiv(%d, %d) = %d, want %d", row.a, row.b, got, row.want)
		}
		if got := fixed.Cell(fixed.Q(row.a), fixed.Q(row.b)); got != row.want {
			t.Errorf("Cell(%d, %d) = %d, want %d", row.a, row.b, got, row.want)
		}
	}
}

func TestVec2Lerp(t *testing.T) {
	a, b := fixed.Vec2{X: 0, Y: 4 * fixed.One}, fixed.Vec2{X: 8 * fixed.One, Y: 0}
	if got, want := a.Lerp(b, fixed.Half/2), (fixed.Vec2{X: 2 * fixed.One, Y: 3 * fixed.One}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// skipOverflowBuild skips a test that saturates on purpose.
func skipOverflowBuild(t *testing.T) {
	t.Helper()
	if fixed.PanicOnOverflow {
		t.Skip("built with samestep_overflow")
	}
}
