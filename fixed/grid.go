package fixed

import "math/bits"

// Grid finds ids near a position. It is rebuilt from all positions, usually once a tick, by counting sort, and allocates
// only while it grows. It is a cache and never part of the state.
//
//	g.Reset()
//	for i := range units {
//		g.Add(uint32(i), units[i].Pos)
//	}
//	g.Build()
//	for b := g.Around(pos, radius); b.Next(); {
//		for _, id := range b.IDs() {
//			...
//		}
//	}
//
// IDs come row by row, from small Y to great, and within a cell in the order of adding. Positions outside of the grid
// belong to the nearest cell, so no query misses them.
type Grid struct {
	origin        Vec2
	size          Q
	shift         uint8 // size is 1<<shift, or no power of two if 0
	columns, rows uint32

	starts []uint32 // cell c holds sorted[starts[c]:starts[c+1]]
	cells  []uint32 // cell of each id, in the order of adding
	ids    []uint32 // in the order of adding
	sorted []uint32 // ids by cell
}

// NewGrid returns a grid of columns × rows square cells, with origin at its lower left corner. A size or number below 1 counts as 1.
func NewGrid(origin Vec2, size Q, columns, rows uint32) *Grid {
	g := &Grid{origin: origin, size: max(size, 1), columns: max(columns, 1), rows: max(rows, 1)}
	if g.size&(g.size-1) == 0 {
		g.shift = uint8(bits.TrailingZeros64(uint64(g.size)))
	}
	g.starts = make([]uint32, uint64(g.columns)*uint64(g.rows)+1)
	return g
}

// Reset removes all ids.
func (g *Grid) Reset() { g.cells, g.ids = g.cells[:0], g.ids[:0] }

// Add puts id at a position. Queries find it after the next Build.
func (g *Grid) Add(id uint32, at Vec2) {
	g.cells = append(g.cells, g.row(at.Y)*g.columns+g.column(at.X))
	g.ids = append(g.ids, id)
}

func (g *Grid) column(x Q) uint32 { return g.index(x, g.origin.X, g.columns) }
func (g *Grid) row(y Q) uint32    { return g.index(y, g.origin.Y, g.rows) }

// index returns the row or column of a coordinate, limited to 0..n-1.
func (g *Grid) index(x, origin Q, n uint32) uint32 {
	offset := uint64(max(x, origin)) - uint64(origin)
	if g.shift > 0 {
		return uint32(min(offset>>g.shift, uint64(n-1)))
	}
	return uint32(min(offset/uint64(g.size), uint64(n-1)))
}

// Build sorts the added ids into their cells.
func (g *Grid) Build() {
	clear(g.starts)
	for _, c := range g.cells {
		g.starts[c]++
	}
	sum := uint32(0)
	for c, n := range g.starts {
		sum += n
		g.starts[c] = sum
	}
	if cap(g.sorted) < len(g.ids) {
		g.sorted = make([]uint32, len(g.ids), cap(g.ids))
	}
	g.sorted = g.sorted[:len(g.ids)]
	for i := len(g.ids) - 1; i >= 0; i-- { // backwards: each start moves down to the first id of its cell
		c := g.cells[i]
		g.starts[c]--
		g.sorted[g.starts[c]] = g.ids[i]
	}
}

// Box is a rectangle of cells that [Grid.Around] found, read row by row.
type Box struct {
	g                *Grid
	left, right      uint32 // columns, inclusive
	row, next, above uint32
}

// Around returns the cells that a square of ±radius around a position touches, with every id within radius. Below 0 it counts as 0.
func (g *Grid) Around(at Vec2, radius Q) Box {
	radius = max(radius, 0)
	return Box{
		g:    g,
		left: g.column(at.X.Sub(radius)), right: g.column(at.X.Add(radius)),
		next: g.row(at.Y.Sub(radius)), above: g.row(at.Y.Add(radius)) + 1,
	}
}

// Next advances to the next row of the box and reports whether there is one.
func (b *Box) Next() bool {
	b.row = b.next
	b.next++
	return b.row < b.above
}

// IDs returns the ids in the row. They are valid until the next Build.
func (b *Box) IDs() []uint32 {
	first := b.row * b.g.columns
	return b.g.sorted[b.g.starts[first+b.left]:b.g.starts[first+b.right+1]]
}
