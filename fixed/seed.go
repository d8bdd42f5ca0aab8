//samestep:allow float first guesses only: an integer test of each caller makes the result independent of their rounding

package fixed

import (
	"math"
	"math/bits"
)

// Only this file and mul_wasm.go use floats. A float is a first guess: an integer test of each caller makes the result
// independent of the float's rounding, or the caller computes the result without floats.

// The last bit of the float 3·2^(51-n) is 2^-n. Adding it to a smaller float rounds that float to a multiple of 2^-n, and
// the bits of the sum are those of 3·2^(51-n) plus the multiple. This is faster than a conversion, much so on 32 bits.

// nearest returns the integer nearest to f, for |f| < 2^51. For a greater f or a NaN, the result is beyond ±2^50 too.
func nearest(f float64) int64 { return int64(math.Float64bits(f+3<<51)) - 0x4338<<48 }

// toFloat converts x, in halves where the processor converts only 32 bits.
func toFloat(x int64) float64 {
	if bits.UintSize == 64 { //samestep:allow runtime both ways give the same number
		return float64(x)
	}
	return float64(int32(x>>32))*(1<<32) + (float64(int32(uint32(x)-1<<31)) + 1<<31)
}

// sqrtSeed returns the root of x · 2^32 with an error below 1, for x ≥ 0.
func sqrtSeed(x int64) int64 {
	return int64(math.Float64bits(math.Sqrt(toFloat(x))+3<<35)) - 0x4238<<48
}

// hypotSeed returns the root of x²+y² with an error below 1 if the root is below 2^50, else a number beyond 2^49.
func hypotSeed(x, y int64) int64 {
	fx, fy := toFloat(x), toFloat(y)
	return nearest(math.Sqrt(fx*fx + fy*fy))
}

// quotientSeed returns x/y · 2^32 with an error below 1 if that is below 2^50, else a number beyond ±2^50.
func quotientSeed(x, y int64) int64 {
	return int64(math.Float64bits(toFloat(x)/toFloat(y)+3<<19)) - 0x4138<<48
}

// ratioSeed returns y/x · 2^50 with an error below 1, for 0 ≤ y ≤ x, x > 0.
func ratioSeed(y, x int64) int64 {
	return int64(math.Float64bits(toFloat(y)/toFloat(x)+3<<1)) - 0x4018<<48
}

// compareSeed compares x²+y² with r². It reports less or more only if it is certain.
func compareSeed(x, y, r int64) (less, more bool) {
	fx, fy, fr := toFloat(x), toFloat(y), toFloat(r)
	d := fx*fx + fy*fy - fr*fr
	margin := fr * fr * (1.0 / (1 << 48))
	return d < -margin, d > margin
}

// rootSeed returns the root of hi·2^64 + lo with a relative error below 2^-50, at most 2^64 - 2^12.
func rootSeed(hi, lo uint64) uint64 {
	f := math.Sqrt(float64(hi)*(1<<64) + float64(lo))
	return uint64(min(f, 1<<64-1<<12))
}

// scaleSeed returns x·n/√(x²+y²) and y·n/√(x²+y²) with an error below 2, for n < 2^50; x and y are not both 0.
func scaleSeed(x, y, n int64) (int64, int64) {
	fx, fy := toFloat(x), toFloat(y)
	f := toFloat(n) / math.Sqrt(fx*fx+fy*fy)
	return nearest(fx * f), nearest(fy * f)
}

// rsqrtSeed returns 2^60/√x with an error below 2, for x ≥ 2^20.
func rsqrtSeed(x int64) int64 { return nearest((1 << 60) / math.Sqrt(toFloat(x))) }

// folded returns the angle in -1..1 quarters that has the sine of t.
func folded(t uint32) float64 {
	back := int32(t^t<<1) >> 31
	return float64((int32(t)^back)-back+back&(-1<<31)) * (1.0 / (1 << 30))
}

// sineSeed returns 2^44 times the sine of y quarters of a turn with an error below 2, for |y| ≤ 1. The error of its
// polynomial, through the zeros of the Chebyshev polynomial of degree 15, is at most 2^-44.5.
func sineSeed(y float64) int64 {
	z := y * y
	zz := z * z
	low := 1.5707963267943048 - z*0.6459640974841465 + zz*(0.07969262600734602-z*0.0046817529968557784)
	high := 0.00016043839681429193 - z*3.595181685628187e-06 + zz*5.446426186501548e-08
	return nearest((low + zz*zz*high) * (y * (1 << 44)))
}

// quartersSeed splits an angle of x/2^32 radians and some quarters of a turn, for |x| ≤ 64·2^32, into y quarters, |y| ≤ 1,
// with an error below 2^-46, and whole half turns. odd is all ones if their number is odd, which negates the sine, else 0.
func quartersSeed(x int64, quarters int32) (y float64, odd int64) {
	const magic = 3 << 51
	y = toFloat(x)*(1/(math.Pi/2*(1<<32))) + float64(quarters)
	halves := y*0.5 + magic
	return y - (halves-magic)*2, -int64(math.Float64bits(halves) & 1)
}

// sine returns the sine of t.
func sine(t uint32) Q {
	if s := sineSeed(folded(t)); certain(s, 12) { // all but one of a thousand
		return Q((s + 1<<11) >> 12)
	}
	return sineTable(t)
}

// sineCosine returns the sines of t and of a quarter more.
func sineCosine(t uint32) (Q, Q) {
	ahead := t + uint32(QuarterTurn)
	s, c := sineSeed(folded(t)), sineSeed(folded(ahead))
	if certain(s, 12) && certain(c, 12) {
		return Q((s + 1<<11) >> 12), Q((c + 1<<11) >> 12)
	}
	return sineTable(t), sineTable(ahead)
}

// certain reports whether all numbers within 2 of q round to the same result when they lose bits bits.
func certain(q int64, bits uint) bool {
	return uint64(q+1<<(bits-1)+2)&(1<<bits-1) >= 4
}

// sineRadians returns the sine of x radians + ahead/2^64 turns; ahead is 0 or a quarter.
func sineRadians(x Q, ahead uint64) Q {
	if uint64(x+64*One) < 128*uint64(One) {
		y, odd := quartersSeed(int64(x), int32(ahead>>62))
		if s := (sineSeed(y) ^ odd) - odd; certain(s, 12) {
			return Q((s + 1<<11) >> 12)
		}
	}
	return sineRadiansTable(x, ahead)
}
