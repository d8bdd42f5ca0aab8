package fixed

import "math/bits"

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
