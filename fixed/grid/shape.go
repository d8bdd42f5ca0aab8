package grid

import "github.com/seed-49bee653/samestep/fixed"

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
