package fixed

// narrow tells that a 128-bit product takes several instructions. It selects one of two ways to compute the same bits.
const narrow = true

// Mul returns x·y rounded to nearest, ties to even, saturating.
//
// A float tells whether the product wrapped: if so, the difference is 2^96 or more, else less than 2^76, and the test uses
// a limit in between. The code is written out so that it is inlined, because a call takes longer than the product here.
func (x Q) Mul(y Q) Q {
	low := Q(uint32(x)) * Q(uint32(y))
	r := x>>32*y + Q(uint32(x))*(y>>32) + Q(uint64(low)>>32)
	r += (Q(uint32(low)) + 1<<31 - 1 + r&1) >> 32
	if d := float64(x)*float64(y) - float64(r)*(1<<32); d*d > 1<<190 {
		if panicOnOverflow {
			return saturate(x^y < 0)
		}
		return MaxQ ^ (x^y)>>63
	}
	return r
}
