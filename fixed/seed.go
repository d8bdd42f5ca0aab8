//samestep:allow float first guesses only: an integer test of each caller makes the result independent of their rounding

package fixed

import (
	"math"
	"math/bits"
)

// This and mul_wasm.go are the only files of the package that use floats. They are a first guess: an integer
// test of each caller makes the result independent of how a float was rounded, or goes another way without floats.

// A float of 3·2^(51-n) has 2^-n as its last bit: adding it to a smaller float rounds that to a multiple of 2^-n, and the
// bits of the sum are those of 3·2^(51-n) plus the multiple. That is quicker than a conversion, on a 32-bit machine by far.

// nearest returns the integer nearest to f, for |f| < 2^51. For a greater one or a NaN it is beyond ±2^50 too.
func nearest(f float64) int64 { return int64(math.Float64bits(f+3<<51)) - 0x4338<<48 }

// toFloat is a conversion, by halves where the processor converts only 32 bits.
func toFloat(x int64) float64 {
	if bits.UintSize == 64 {
		return float64(x)
	}
	return float64(int32(x>>32))*(1<<32) + (float64(int32(uint32(x)-1<<31)) + 1<<31)
}

// sqrtSeed returns the root of x · 2^32 with an error below 1, for x ≥ 0.
func sqrtSeed(x int64) int64 {
	return int64(math.Float64bits(math.Sqrt(toFloat(x))+3<<35)) - 0x4238<<48
}

// hypotSeed returns the root of x²+y² with an error below 1, if it is below 2^50; else it is beyond 2^49 too.
func hypotSeed(x, y int64) int64 {
	fx, fy := toFloat(x), toFloat(y)
	return nearest(math.Sqrt(fx*fx + fy*fy))
}

// quotientSeed returns x/y · 2^32 with an error below 1, if it is below 2^50; else it is beyond ±2^50 too.
func quotientSeed(x, y int64) int64 {
	return int64(math.Float64bits(toFloat(x)/toFloat(y)+3<<19)) - 0x4138<<48
}

// ratioSeed returns y/x · 2^50 with an error below 1, for 0 ≤ y ≤ x, x > 0.
func ratioSeed(y, x int64) int64 {
	return int64(math.Float64bits(toFloat(y)/toFloat(x)+3<<1)) - 0x4018<<48
}

// compareSeed compares x²+y² with r²: it is sure of less or of more, or of neither.
func compareSeed(x, y, r int64) (less, more bool) {
	fx, fy, fr := toFloat(x), toFloat(y), toFloat(r)
	d := fx*fx + fy*fy - fr*fr
	margin := fr * fr * (1.0 / (1 << 48))
	return d < -margin, d > margin
}

// rootSeed returns the root of hi·2^64 + lo with a relative error below 2^-50, and never more than 2^64 - 2^12.
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
