package fixed

import "math/bits"

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
