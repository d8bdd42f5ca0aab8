//go:build !(386 || wasm || arm || mips || mipsle)

package fixed

import "math/bits"

// narrow tells that a 128-bit product costs several instructions. It chooses between two ways to the same bits.
const narrow = false

// Mul returns x·y rounded to nearest, ties to even, saturating.
func (x Q) Mul(y Q) Q {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	hi -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	lo, carry := bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	hi += carry
	r := Q(hi<<32 | lo>>32)
	if int64(hi) != int64(int32(hi)) {
		if panicOnOverflow {
			return saturate(int64(hi) < 0)
		}
		r = MaxQ ^ Q(int64(hi)>>63) // a conditional move, no branch
	}
	return r
}
