//go:build !(386 || wasm || arm || mips || mipsle)

package fixed

import "math/bits"

// narrow tells that a 128-bit product takes several instructions. It selects one of two ways to compute the same bits.
const narrow = false

// ends has the limits of Mul. Mul loads them so that the compiler keeps the branch, which is rarely taken.
var ends = [2]Q{MaxQ, MinQ}

// Mul returns x·y rounded to nearest, ties to even, saturating.
func (x Q) Mul(y Q) Q {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	lo, carry := bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	hi, _ = bits.Add64(hi-uint64(x>>63)&uint64(y)-uint64(y>>63)&uint64(x), 0, carry)
	if int64(hi) != int64(int32(hi)) {
		if panicOnOverflow {
			return saturate(int64(hi) < 0)
		}
		return ends[hi>>63]
	}
	return Q(hi<<32 | lo>>32)
}
