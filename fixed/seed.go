package fixed

import "math"

// This is the only file of the package that uses floats. They start a root; the integer test of each caller then makes
// the result independent of how the float was rounded.

// rootSeed returns about the root of hi·2^64 + lo, with a relative error below 2^-50, and never more than 2^64 - 2^12.
func rootSeed(hi, lo uint64) uint64 {
	f := math.Sqrt(float64(hi)*(1<<64) + float64(lo))
	return uint64(min(f, 1<<64-1<<12))
}
