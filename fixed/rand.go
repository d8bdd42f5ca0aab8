package fixed

import "math/bits"

// Rand is a seeded generator that is plain state: PCG-DXSM with 128 bits of state, PCG64-DXSM in math/rand/v2 and NumPy
// (O'Neill 2014; multiplier by Steele and Vigna 2021). The zero value works. Keep it in the simulation's state and draw
// from it only in Step.
type Rand struct{ Hi, Lo uint64 }

// NewRand returns the generator of a seed.
func NewRand(seed uint64) Rand {
	return Rand{Hi: mix(seed + golden), Lo: mix(seed + golden*2%(1<<64))}
}

// The step of the generator: multiply and add, modulo 2^128.
const (
	mulHi, mulLo = 2549297995355413924, 4865540595714422341
	incHi, incLo = 6364136223846793005, 1442695040888963407
)

// Uint64 returns the next 64 bits.
func (r *Rand) Uint64() uint64 {
	const cheapMul = 0xda942042e4dd58b5
	hi, lo := bits.Mul64(r.Lo, mulLo)
	hi += r.Hi*mulLo + r.Lo*mulHi
	lo, carry := bits.Add64(lo, incLo, 0)
	hi, _ = bits.Add64(hi, incHi, carry)
	r.Hi, r.Lo = hi, lo
	hi ^= hi >> 32
	hi *= cheapMul
	hi ^= hi >> 48
	return hi * (lo | 1)
}

// Uint32 returns the next 32 bits.
func (r *Rand) Uint32() uint32 { return uint32(r.Uint64() >> 32) }

// N returns an unbiased number in 0..n-1, and 0 for n = 0. (Lemire 2019, multiplication with rejection.)
func (r *Rand) N(n uint32) uint32 {
	hi, lo := bits.Mul32(r.Uint32(), n)
	if lo < n {
		for floor := -n % max(n, 1); lo < floor; {
			hi, lo = bits.Mul32(r.Uint32(), n)
		}
	}
	return hi
}

// Q returns a number in 0 ≤ x < 1. All 2^32 of them are equally likely.
func (r *Rand) Q() Q { return Q(r.Uint32()) }

// Range returns an unbiased number in lo ≤ x < hi, and lo if hi ≤ lo.
func (r *Rand) Range(lo, hi Q) Q {
	if hi <= lo {
		return lo
	}
	n := uint64(hi) - uint64(lo)
	high, low := bits.Mul64(r.Uint64(), n)
	if low < n {
		for floor := -n % n; low < floor; {
			high, low = bits.Mul64(r.Uint64(), n)
		}
	}
	return lo + Q(high)
}

// Bool returns true or false, equally likely.
func (r *Rand) Bool() bool { return r.Uint64()>>63 == 1 }

// Shuffle permutes s. Every order is equally likely. s must have fewer than 2^32 elements.
func Shuffle[T any](r *Rand, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.N(uint32(i) + 1)
		s[i], s[j] = s[j], s[i]
	}
}

// Pick returns one element of s, each equally likely, or the zero T if s is empty. s must have fewer than 2^32 elements.
func Pick[T any](r *Rand, s []T) (t T) {
	if len(s) == 0 {
		return t
	}
	return s[r.N(uint32(len(s)))]
}
