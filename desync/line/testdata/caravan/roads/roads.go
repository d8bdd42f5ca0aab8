// Package roads finds ways between towns.
package roads

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"
)

// A Point is a place on the map.
type Point struct{ X, Y int32 }

// Far returns how many steps two places are apart.
func (p Point) Far(q Point) int32 {
	dx, dy := p.X-q.X, p.Y-q.Y
	if dx < 0 {
		dx = -dx
	}
	if dy < 0 {
		dy = -dy
	}
	return max(dx, dy)
}

// Toward moves a place by at most a step, and reports whether it has come.
func (p *Point) Toward(q Point, step int32) bool {
	p.X += min(max(q.X-p.X, -step), step)
	p.Y += min(max(q.Y-p.Y, -step), step)
	return *p == q
}

// Tag returns a number for a place.
func (p Point) Tag() uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], uint32(p.X))
	binary.LittleEndian.PutUint32(b[4:], uint32(p.Y))
	h := fnv.New32a()
	h.Write(b[:])
	return bits.RotateLeft32(h.Sum32(), 5)
}

// Nearest returns for each place the nearest other one.
func Nearest(places []Point) []uint16 {
	all := make([]uint16, len(places))
	for i, p := range places {
		best := int32(1 << 30)
		for j, q := range places {
			if i == j {
				continue
			}
			if d := p.Far(q); d < best {
				best, all[i] = d, uint16(j)
			}
		}
	}
	return all
}

// Hops returns how many places one comes through from one to the other, by the next ones; -1 if it never comes there.
func Hops(next []uint16, from, to int) int32 {
	for n := int32(0); int(n) <= len(next); n++ {
		if from == to {
			return n
		}
		from = int(next[from])
	}
	return -1
}

// Pack packs a place into 16 bits.
func Pack(p Point) uint16 { return uint16(p.X&0xff)<<8 | uint16(p.Y&0xff) }

// Root returns the root of a number, rounded down.
func Root(n int32) int32 {
	low, high := int32(0), n+1
	for high-low > 1 {
		mid := low + (high-low)/2
		if mid*mid <= n {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
