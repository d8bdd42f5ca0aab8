package fixed

import "math/bits"

//go:generate go test -run TestTablesAreGenerated -update .

// A piece is a polynomial of degree 5 for 1/256 of a function's domain: c0 + c1·u + … + c5·u⁵ with u in 0..1. The
// coefficients are scaled by 2^63, 2^70, 2^77, 2^84, 2^64 and 2^72. Each function subtracts a fixed subset of them, so its
// three wide products are unsigned.
type piece struct {
	c0, c1, c2 uint64
	c3         int64
	c4, c5     int32
}

// mulHigh returns a·b / 2^64, rounded down.
func mulHigh(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}
