//go:build 386 || arm || mips || mipsle

package fixed

// narrow tells that a 128-bit product takes several instructions. It selects one of two ways to compute the same bits.
const narrow = true

// Mul returns x·y rounded to nearest, ties to even, saturating.
func (x Q) Mul(y Q) Q { return mulNarrow(x, y) }
