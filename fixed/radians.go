package fixed

import "math/bits"

// SinRadians returns the sine of an angle in radians, over the whole range of Q.
func SinRadians(x Q) Q { return sineRadians(x, 0) }

// CosRadians returns the cosine of an angle in radians, over the whole range of Q.
func CosRadians(x Q) Q { return sineRadians(x, 1<<62) }

// sineRadiansTable is sineRadians without floats, over the whole range of Q. It computes with |x|, so that mirrored angles
// give mirrored bits. ahead is 0 or a quarter.
func sineRadiansTable(x Q, ahead uint64) Q {
	// x/2π turns · 2^64, without the whole turns. The constant reaches 64 bits below the last bit of the greatest x, so
	// great angles are as exact as small ones.
	const perRadianHigh, perRadianLow = 0x28be60db9391054a, 0x7f09d5f47d4d3770 // 1/2π · 2^128
	m := magnitude(int64(x))
	hi, mid := bits.Mul64(m, perRadianHigh)
	mid, carry := bits.Add64(mid, mulHigh(m, perRadianLow), 0)
	a := (hi+carry)<<32 | mid>>32
	a += ahead

	r := a ^ uint64(int64(a<<1)>>63) // as in sineTable, but the missing step is far below the last bit
	p, u := &sinePieces[uint8(r>>54)], r<<10
	short := int64(u >> 33)
	h := p.c3 - (int64(p.c4)+int64(p.c5)*short>>39)*short>>11
	v := p.c2 + mulHigh(uint64(h), u)>>7
	v = p.c1 - mulHigh(v, u)>>7
	s := rounded(p.c0+mulHigh(v, u)>>7, int32(a>>32))
	if x < 0 && ahead == 0 { // the sine is odd, the cosine even
		return -s
	}
	return s
}
