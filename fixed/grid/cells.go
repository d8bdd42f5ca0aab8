package grid

import (
	"math/bits"

	"github.com/seed-49bee653/samestep/fixed"
)

// MaxSide is the largest number of columns or rows. A [Ground] takes 2 bytes for each cell, a [Flow] 3.
const MaxSide = 4096

// A Shape is the size of a map. It may be part of the state. Cell (x, y) covers the positions from (x, y) to, but without,
// (x+1, y+1), and X points to the right, Y up.
type Shape struct{ Columns, Rows uint16 }

// A Cell is the index of a cell, y·Columns + x.
type Cell uint32

// Cells returns the number of cells.
func (s Shape) Cells() int { return int(s.Columns) * int(s.Rows) }

// Contains reports whether (x, y) is on the map.
func (s Shape) Contains(x, y int32) bool {
	return uint32(x) < uint32(s.Columns) && uint32(y) < uint32(s.Rows)
}

// Cell returns the cell at (x, y), or the nearest one if that is outside of the map.
func (s Shape) Cell(x, y int32) Cell {
	x, y = min(max(x, 0), int32(s.Columns)-1), min(max(y, 0), int32(s.Rows)-1)
	return Cell(uint32(y)*uint32(s.Columns) + uint32(x))
}

// XY returns the column and row of a cell.
func (s Shape) XY(c Cell) (x, y int32) {
	columns := max(uint32(s.Columns), 1)
	return int32(uint32(c) % columns), int32(uint32(c) / columns)
}

// At returns the cell of a position, or the nearest one if the position is outside of the map.
func (s Shape) At(p fixed.Vec2) Cell { return s.Cell(int32(p.X>>32), int32(p.Y>>32)) }

// Center returns the middle of a cell.
func (s Shape) Center(c Cell) fixed.Vec2 {
	x, y := s.XY(c)
	return fixed.Vec2{X: fixed.Q(x)<<32 + fixed.Half, Y: fixed.Q(y)<<32 + fixed.Half}
}

// Spiral returns the n-th step of a walk around (0, 0) in growing squares, which visits every cell once: a square of side
// 2r+1 ends before n = (2r+1)².
func Spiral(n uint32) (x, y int32) {
	if n == 0 {
		return 0, 0
	}
	ring := int32(fixed.ISqrt64(uint64(n))+1) / 2
	side := 2 * ring
	k := int32(n) - (side-1)*(side-1) // 0 .. 4·side-1 along the ring
	switch k / side {
	case 0:
		return ring, k%side - ring + 1
	case 1:
		return ring - 1 - k%side, ring
	case 2:
		return -ring, ring - 1 - k%side
	default:
		return k%side - ring + 1, -ring
	}
}

// Bits is a set of cells, such as rock, or the cells that a team sees. It is plain data for the state: rows of ⌈Columns/64⌉
// words, in which bit x%64 of word x/64 is cell x of the row. A set without a word does not have the word's cells.
type Bits []uint64

func (s Shape) stride() int { return (int(s.Columns) + 63) / 64 }

// Words returns the length of the sets of a map.
func (s Shape) Words() int { return s.stride() * int(s.Rows) }

// NewBits returns an empty set.
func (s Shape) NewBits() Bits { return make(Bits, s.Words()) }

// Has reports whether cell (x, y) is in the set. A cell outside of the map is not.
func (b Bits) Has(s Shape, x, y int32) bool {
	word := int(y)*s.stride() + int(x>>6)
	return s.Contains(x, y) && word < len(b) && b[word]>>(x&63)&1 == 1
}

// HasAt reports whether the cell of a position is in the set. A position outside of the map is not.
func (b Bits) HasAt(s Shape, p fixed.Vec2) bool { return b.Has(s, whole(p.X), whole(p.Y)) }

// whole returns the column or row of a coordinate. The type Q has 31 bits before the point and a sign.
func whole(x fixed.Q) int32 { return int32(x >> 32) }

// Put adds cell (x, y) to the set, or removes it. It ignores cells outside of the map.
func (b Bits) Put(s Shape, x, y int32, in bool) {
	word := int(y)*s.stride() + int(x>>6)
	if !s.Contains(x, y) || word >= len(b) {
		return
	}
	if in {
		b[word] |= 1 << (x & 63)
	} else {
		b[word] &^= 1 << (x & 63)
	}
}

// Row adds the cells left to right, inclusive, of row y to the set. It ignores cells outside of the map.
func (b Bits) Row(s Shape, y, left, right int32) {
	left, right = max(left, 0), min(right, int32(s.Columns)-1)
	start := int(y) * s.stride()
	if left > right || uint32(y) >= uint32(s.Rows) || start+s.stride() > len(b) {
		return
	}
	row := b[start : start+s.stride()]
	first, last := left/64, right/64
	head, tail := ^uint64(0)<<(left%64), ^uint64(0)>>(63-right%64)
	if first == last {
		row[first] |= head & tail
		return
	}
	row[first] |= head
	for i := first + 1; i < last; i++ {
		row[i] = ^uint64(0)
	}
	row[last] |= tail
}

// Disc adds the cells around the cell of a position to the set: those with dx² + dy² ≤ radius² + radius.
func (b Bits) Disc(s Shape, at fixed.Vec2, radius int32) {
	cx, cy := whole(at.X), whole(at.Y)
	if radius = min(radius, MaxSide); radius < 0 {
		return
	}
	top := int32(s.Rows) - 1
	for y := max(cy, radius) - radius; y <= min(min(cy, top)+radius, top); y++ {
		half := halfWidth(radius, max(y-cy, cy-y))
		b.Row(s, y, max(cx, half)-half, cx+half)
	}
}

// halfWidths[r][d] is halfWidth of small discs.
var halfWidths = func() (table [33][33]uint8) {
	for r := range table {
		for d := range r + 1 {
			table[r][d] = uint8(fixed.ISqrt64(uint64(r*r - d*d + r)))
		}
	}
	return table
}()

// halfWidth returns half the width of a disc of radius r, d rows from its middle, 0 ≤ d ≤ r.
func halfWidth(r, d int32) int32 {
	if uint32(r) < uint32(len(halfWidths)) && uint32(d) < uint32(len(halfWidths)) {
		return int32(halfWidths[r][d])
	}
	return int32(fixed.ISqrt64(uint64(r*r - d*d + r)))
}

// Add adds all cells of another set of the same map.
func (b Bits) Add(o Bits) {
	for i, word := range o[:min(len(b), len(o))] {
		b[i] |= word
	}
}

// Remove removes all cells of another set of the same map.
func (b Bits) Remove(o Bits) {
	for i, word := range o[:min(len(b), len(o))] {
		b[i] &^= word
	}
}

// Clear empties the set.
func (b Bits) Clear() { clear(b) }

// Count returns the number of cells in the set.
func (b Bits) Count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// A Fog is the fog of war of one team. It is part of the state.
//
//	fog.Clear()
//	for each unit of the team {
//		fog.Look(shape, unit.Pos, unit.Sight)
//	}
//	fog.Remember()
type Fog struct {
	Visible  Bits // in sight at the last update
	Explored Bits // seen at an update before, or at the last one
}

// NewFog returns the fog of a team that has seen nothing.
func NewFog(s Shape) Fog { return Fog{Visible: s.NewBits(), Explored: s.NewBits()} }

// Clear begins an update: nothing is visible.
func (f *Fog) Clear() { f.Visible.Clear() }

// Look makes the cells of a disc visible, see [Bits.Disc]. Nothing blocks this sight.
func (f *Fog) Look(s Shape, at fixed.Vec2, radius int32) { f.Visible.Disc(s, at, radius) }

// Remember ends an update: what is visible is explored.
func (f *Fog) Remember() { f.Explored.Add(f.Visible) }

// Sees reports whether the team sees a position.
func (f *Fog) Sees(s Shape, p fixed.Vec2) bool { return f.Visible.HasAt(s, p) }

// Knows reports whether the team has explored a position.
func (f *Fog) Knows(s Shape, p fixed.Vec2) bool { return f.Explored.HasAt(s, p) }
