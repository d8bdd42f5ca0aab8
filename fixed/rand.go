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

// NewStream returns the generator of one named stream of a seed. A game that keeps one for each purpose, such as "loot"
// and "weather", can draw more from one of them without changing the numbers of the others.
//
//	w.Loot = fixed.NewStream(settings.Seed, "loot")
//
// Streams with different names, and the generator of [NewRand], are independent.
func NewStream(seed uint64, name string) Rand {
	h := uint64(0xcbf29ce484222325) // FNV-1a of the name
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return NewRand(mix(seed+golden) ^ h)
}

const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014, with Stafford's mix 13): a bijection.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Draw returns 64 random bits that depend only on its arguments: it has no state, and the order of calls does not matter.
// purpose distinguishes the uses of one entity in one tick, and n their repetitions.
func Draw(seed uint64, entity, tick, purpose, n uint32) uint64 {
	x := mix(seed + golden)
	x = mix((x ^ (uint64(entity)<<32 | uint64(tick))) + golden)
	return mix((x ^ (uint64(purpose)<<32 | uint64(n))) + golden)
}

// DrawN is [Draw] for an unbiased number in 0..bound-1. It returns 0 for bound = 0.
func DrawN(seed uint64, entity, tick, purpose, n, bound uint32) uint32 {
	x := Draw(seed, entity, tick, purpose, n)
	hi, lo := bits.Mul64(x, uint64(bound))
	if lo < uint64(bound) {
		for floor := -uint64(bound) % uint64(bound); lo < floor; {
			x = mix(x + golden)
			hi, lo = bits.Mul64(x, uint64(bound))
		}
	}
	return uint32(hi)
}

// DrawQ is [Draw] for a number in 0 ≤ x < 1.
func DrawQ(seed uint64, entity, tick, purpose, n uint32) Q {
	return Q(Draw(seed, entity, tick, purpose, n) >> 32)
}

// DrawsTo returns how many draws of 64 or 32 bits lead from the state r to the state later. All states are on one cycle of
// 2^128, so a distance always exists. ok is false if it is 2^32 or more, because no match draws as often. N, Range and
// functions that use them may draw more than once. (It inverts Brown 1994, random number generation with arbitrary
// strides: each step yields one bit of the distance.)
func (r Rand) DrawsTo(later Rand) (draws uint64, ok bool) {
	mul, add := Rand{mulHi, mulLo}, Rand{incHi, incLo}
	for bit := range 32 {
		mask := uint64(1) << bit
		if (r.Lo^later.Lo)&mask != 0 {
			r = r.times(mul).plus(add)
			draws |= mask
		}
		add = mul.plus(Rand{0, 1}).times(add)
		mul = mul.times(mul)
	}
	return draws, r == later
}

// times returns the product modulo 2^128.
func (r Rand) times(o Rand) Rand {
	hi, lo := bits.Mul64(r.Lo, o.Lo)
	return Rand{hi + r.Hi*o.Lo + r.Lo*o.Hi, lo}
}

// plus returns the sum modulo 2^128.
func (r Rand) plus(o Rand) Rand {
	lo, carry := bits.Add64(r.Lo, o.Lo, 0)
	hi, _ := bits.Add64(r.Hi, o.Hi, carry)
	return Rand{hi, lo}
}
