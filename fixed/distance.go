package fixed

import "math/bits"

// DrawsTo returns how many draws of 64 or 32 bits lead from the state r to the state later. All states lie on one
// circle of 2^128, so there is always a way; it is false where the way is 2^32 draws or longer, as no match makes so
// many: later did not come from r by drawing. N, Range and what is made of them may draw more than once. (Brown 1994,
// random number generation with arbitrary strides, turned around: one bit of the distance with each step.)
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
