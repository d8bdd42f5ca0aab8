//samestep:deterministic
package bad

import "math"

func slow(speed int64) int64 {
	return int64(float64(speed) * 0.75) // want `float: `
}

func root(x int64) int64 {
	return int64(math.Sqrt(float64(x))) // want `float: `
}

func share(a, b float32) bool { // want `float: `
	return a < b // want `float: `
}

func half[N ~int32 | ~float32](n N) N { return n / 2 }

func mean(a int32) int32 {
	return int32(half(float32(a))) // want `float: `
}
