package fixed_test

import (
	"flag"
	"math/big"
	"math/bits"
	"runtime"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// go test ./fixed -run AllTurns -exhaustive -timeout 1h
var exhaustive = flag.Bool("exhaustive", false, "compare the sine of all 2^32 turns, not of a stratified part")

// TestSinAllTurns proves that Sin, Cos and SinCos, and the table alone, are correctly rounded for every turn. The sines of the first quarter
// are compared with a series that shares nothing with the tables; where that comes too near to a midpoint to tell, with
// big numbers. All other turns are then compared with the first quarter. Without -exhaustive it looks at one turn of 1021,
// a prime, so that every piece and every place in a piece has its turn.
func TestSinAllTurns(t *testing.T) {
	step := uint64(1021)
	if *exhaustive {
		step = 1
	}
	const quarter = 1 << 30
	var group sync.WaitGroup
	workers := uint64(runtime.GOMAXPROCS(0))
	for w := range workers {
		group.Go(func() {
			wrong, byBig := 0, 0
			for r := w * step; r <= quarter; r += step * workers {
				want, sure := seriesSine(uint32(r))
				if !sure {
					want = bigSine(uint32(r))
					byBig++
				}
				wrong += compareTurns(t, uint32(r), want)
				if wrong > 20 {
					return
				}
			}
			t.Logf("worker %d: %d sines by big numbers", w, byBig)
		})
	}
	group.Wait()
}

// compareTurns checks the eight functions of turns that have the sine of r, or its negative.
func compareTurns(t *testing.T, r uint32, want fixed.Q) (wrong int) {
	const half = 1 << 31
	for _, turn := range [4]uint32{r, half - r, half + r, -r} {
		sin, _ := fixed.Turn(turn).SinCos()
		_, cos := fixed.Turn(turn - 1<<30).SinCos()
		expected := want
		if turn != r && turn != half-r {
			expected = -want
		}
		if fixed.SineTable(fixed.Turn(turn)) != expected || fixed.Turn(turn).Sin() != expected || fixed.Turn(turn-1<<30).Cos() != expected || sin != expected || cos != expected {
			t.Errorf("sine of turn %d: table %d, Sin %d, Cos %d, SinCos %d %d, want %d",
				turn, fixed.SineTable(fixed.Turn(turn)), fixed.Turn(turn).Sin(), fixed.Turn(turn-1<<30).Cos(), sin, cos, expected)
			wrong++
		}
	}
	return wrong
}

// seriesSine returns the sine of r / 2^30 quarters by its Taylor series with 64 bits after the point, and whether that is
// farther than 2^-59 from a midpoint. Its error is below 2^-60: 13 products, each cut off by at most 2^-64.
func seriesSine(r uint32) (fixed.Q, bool) {
	sine := r <= 1<<29
	if !sine {
		r = 1<<30 - r // the cosine of the complement
	}
	// The arc r · π/2 / 2^30, as a fraction of 2^64.
	hi, lo := bits.Mul64(uint64(r)<<34, 0xc90fdaa22168c235)
	z := hi<<1 | lo>>63
	zz, _ := bits.Mul64(z, z)
	var s uint64
	for n := uint64(22); n >= 2; n-- {
		if (n%2 == 0) == sine {
			continue // the other series
		}
		s, _ = bits.Mul64(zz, s)
		s = inverseFactorial(n) - s
	}
	s, _ = bits.Mul64(zz, s)
	if sine {
		s, _ = bits.Mul64(z, s)
		s = z - s
	} else {
		s = -s // from 1
	}
	sure := uint32(s)-(1<<31-1<<5) >= 1<<6
	v := fixed.Q((s>>1 + 1<<30) >> 31)
	if !sine && s == 0 {
		v = fixed.One
	}
	return v, sure
}

var factorials = func() (f [23]uint64) {
	for n := range f {
		b := new(big.Int).Lsh(big.NewInt(1), 64)
		b.Quo(b, new(big.Int).MulRange(1, int64(n)))
		f[n] = b.Uint64() // 0 for n < 2, which no series asks for
	}
	return f
}()

// inverseFactorial returns 2^64/n!.
func inverseFactorial(n uint64) uint64 { return factorials[n] }

func bigSine(r uint32) fixed.Q {
	arc := new(big.Float).Mul(bigScale(bigPi(), -31), bigFloat(int64(r)))
	return rounded(bigSin(arc))
}
