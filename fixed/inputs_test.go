package fixed_test

import (
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// edges are the numbers where fixed-point libraries go wrong.
var edges = func() (all []fixed.Q) {
	for _, v := range []int64{0, 1, 2, 3, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<31 + 1, 3 << 30, 1<<32 - 1, 1 << 32,
		1<<32 + 1, 3 << 31, 1 << 33, 3 << 32, 7 << 32, 1<<46 - 1, 1 << 46, 1 << 47, 1<<48 - 1, 1 << 48, 1<<49 - 1, 1 << 49,
		1 << 50, 1<<51 + 1, 1<<52 + 1, 1<<53 + 1, 46341 << 32, 1<<61 - 1, 1 << 61, 1 << 62, 1<<63 - 2, 1<<63 - 1} {
		all = append(all, fixed.Q(v), fixed.Q(-v))
	}
	return append(all, fixed.MinQ)
}()

// inputs returns n numbers: the edges, then random ones of every magnitude, then random ones of a game's.
func inputs(seed uint64, n int) []fixed.Q {
	r := fixed.NewRand(seed)
	all := append([]fixed.Q{}, edges...)
	for len(all) < n {
		x := fixed.Q(r.Uint64())
		switch r.N(4) {
		case 0, 1:
			x >>= r.N(64)
		case 2:
			x >>= 20 // ±4096
		case 3: // few bits set: exact results and ties
			x = fixed.Q(int64(int8(x))) << r.N(56)
		}
		all = append(all, x)
	}
	return all[:n]
}

// few is n, a quarter of it in the small form, and an eighth in a short test: that other processors compute the same is shown by
// TestSums, which is never short.
func few(t *testing.T, n int) int {
	switch {
	case testing.Short():
		return n / 8
	case testenv.Small(t):
		return n / 4
	}
	return n
}

// pairs calls f with every pair of edges and a few of n random pairs.
func pairs(t *testing.T, seed uint64, n int, f func(x, y fixed.Q)) {
	n = few(t, n)
	for _, x := range edges {
		for _, y := range edges {
			f(x, y)
		}
	}
	xs, ys := inputs(seed, n+len(edges)), inputs(seed+1, n+len(edges))
	for i := range n {
		f(xs[len(edges)+i], ys[len(edges)+i])
	}
}

func integer(x fixed.Q) *big.Int { return big.NewInt(int64(x)) }

// real returns x as a number, not scaled.
func real(x fixed.Q) *big.Float { return bigScale(bigFloat(int64(x)), -32) }

// saturated returns n limited to the range of Q.
func saturated(n *big.Int) fixed.Q {
	if n.IsInt64() {
		return fixed.Q(n.Int64())
	}
	if n.Sign() < 0 {
		return fixed.MinQ
	}
	return fixed.MaxQ
}

// quotient returns a/b rounded to nearest, ties to even, saturated; 0 and the limits where b is 0.
func quotient(a, b *big.Int) fixed.Q {
	if b.Sign() == 0 {
		return saturated(new(big.Int).Lsh(a, 200))
	}
	// floor((2a + b) / 2b), less one for a tie that came out odd.
	twice := new(big.Int).Lsh(b, 1)
	if b.Sign() < 0 {
		return quotient(new(big.Int).Neg(a), new(big.Int).Neg(b))
	}
	q, rest := new(big.Int).DivMod(new(big.Int).Add(new(big.Int).Lsh(a, 1), b), twice, new(big.Int))
	if rest.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return saturated(q)
}

// root returns the root of n rounded to nearest, saturated.
func root(n *big.Int) fixed.Q {
	r := new(big.Int).Sqrt(n)
	if rest := new(big.Int).Sub(n, new(big.Int).Mul(r, r)); rest.Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return saturated(r)
}

// rounded returns x · 2^32 rounded and saturated.
func rounded(x *big.Float) fixed.Q { return saturated(bigRound(bigScale(x, 32))) }

// ulps returns by how many 2^-32 got differs from want.
func ulps(got fixed.Q, want *big.Float) float64 {
	d := new(big.Float).Sub(bigFloat(int64(got)), bigScale(want, 32))
	f, _ := d.Abs(d).Float64()
	return f
}
