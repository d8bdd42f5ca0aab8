package fixed

import "math/bits"

// SinRadians returns the sine of an angle in radians.
func SinRadians(x Q) Q { return sinOfArc(turnOf(x)) }

// CosRadians returns the cosine of an angle in radians.
func CosRadians(x Q) Q { return sinOfArc(turnOf(x) + 1<<62) }

// 1/2π · 2^128
const perRadianHigh, perRadianLow = 0x28be60db9391054a, 0x7f09d5f47d4d3770

// turnOf returns x/2π turns · 2^64, without its whole turns.
func turnOf(x Q) uint64 {
	m := magnitude(int64(x))
	// m · 2^-32 · perRadian, · 2^64: bits 96..159 of the product with the 128-bit constant.
	hi, mid := bits.Mul64(m, perRadianHigh)
	h, _ := bits.Mul64(m, perRadianLow)
	mid, carry := bits.Add64(mid, h, 0)
	a := (hi+carry)<<32 | mid>>32
	if x < 0 {
		return -a
	}
	return a
}

// sinOfArc returns the sine of a turns · 2^-64.
func sinOfArc(a uint64) Q {
	negative := a>>63 == 1
	a &= 1<<63 - 1
	a = min(a, 1<<63-a) // sin(1/2 - a) = sin a; now 0..1/4
	var m Q
	if a <= 1<<61 {
		m = Q((sin64(arc64(a)) + 1<<31) >> 32)
	} else {
		m = One - Q((versin64(arc64(1<<62-a))+1<<31)>>32)
	}
	if negative {
		return -m
	}
	return m
}

// arc64 returns a turns · 2^-64 in radians · 2^64, for a ≤ 2^61.
func arc64(a uint64) uint64 {
	hi, lo := bits.Mul64(a, twoPi) // 2π · 2^61
	return hi<<3 | lo>>61
}
