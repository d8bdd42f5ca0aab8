package fixed

import "math/bits"

//go:generate go run ./internal/tables/write

// A piece is a polynomial of degree 5 for 1/256 of a function's domain: c0 + c1·u + … + c5·u⁵ with u in 0..1. The
// coefficients are scaled by 2^63, 2^70, 2^77, 2^84, 2^64 and 2^72. Which of them are subtracted is known for each
// function, so that the three wide products are of unsigned numbers.
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

// mulShort returns a·u / 2^32, rounded down, for u < 2^32.
func mulShort(a, u uint64) uint64 {
	if narrow {
		return a>>32*u + a&(1<<32-1)*u>>32
	}
	return mulHigh(a, u<<32)
}

// The sine is c0 + u·(c1 - u·(c2 + u·(c3 - u·(c4 + u·c5)))), in two parts that are small enough to be inlined. With a u of
// 22 bits the first three products need only 64 bits.

// bend returns c2 + u·(c3 - …), for u · 2^22.
func (p *piece) bend(u int64) uint64 {
	return p.c2 + uint64((p.c3>>19-(int64(p.c4)+int64(p.c5)*u>>30)*u>>21)*u>>10)
}

// sine returns c0 + u·(c1 - u·bend).
func (p *piece) sine(bend uint64, u int64) uint64 {
	return p.c0 + mulShort(p.c1-mulShort(bend, uint64(u)<<3), uint64(u)<<3)
}
