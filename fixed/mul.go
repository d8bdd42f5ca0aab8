package fixed

import "math/bits"

// MulWrap returns x·y rounded to nearest, ties to even. A result that is out of range keeps its low 64 bits.
func (x Q) MulWrap(y Q) Q {
	low := uint64(uint32(x)) * uint64(uint32(y))
	r := x>>32*y + Q(uint32(x))*(y>>32) + Q(low>>32)
	return r + Q((uint64(uint32(low))+1<<31-1+uint64(r)&1)>>32)
}

// mulNarrow is Mul for machines without a 128-bit product.
func mulNarrow(x, y Q) Q {
	if (uint32(x>>32)+1<<14)|(uint32(y>>32)+1<<14) < 1<<15 { // both within ±16384: the product is far from saturating
		return x.MulWrap(y)
	}
	hi, lo := bits.Mul64(magnitude(int64(x)), magnitude(int64(y)))
	if hi > 1<<31 {
		return saturate(x^y < 0)
	}
	lo, carry := bits.Add64(lo, 1<<31-1+lo>>32&1, 0)
	return signed((hi+carry)<<32|lo>>32, x^y < 0)
}
