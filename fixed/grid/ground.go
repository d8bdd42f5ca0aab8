package grid

import (
	"encoding/binary"
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
)

// A Terrain is the cache behind a [Ground]. Keep it in a derived field of the state; the zero value works. The ground comes
// only from [Terrain.Ground], which compares the cells of the state with its own copy: a restored state, a copy, a rewound
// match and a new wall need no other care.
type Terrain struct {
	ground *Ground // never two in one place, so a pointer to it and its version name its cells
}

// A Ground says where units can walk and see. It is valid until the next call of [Terrain.Ground].
type Ground struct {
	shape   Shape
	version uint64 // changes with every change of the cells
	blocked Bits   // the cells from which the other fields were made, all words
	open    []bool
	ways    []uint8  // by cell: bit d is set if a unit can step in direction d
	beside  [8]int32 // difference of a cell and its neighbour in a direction
	changed []bool   // by row, scratch
}

// The directions, beginning in the east, counter-clockwise. Odd ones are diagonal.
var (
	directionX = [8]int32{1, 1, 0, -1, -1, -1, 0, 1}
	directionY = [8]int32{0, 1, 1, 1, 0, -1, -1, -1}
)

// Ground returns the ground of a map with some blocked cells. Call it in each tick, and again after a change of the cells.
// If the cells are those of the last call, it costs the comparison of two sets (8 KiB for 256×256 cells); if not, the rows
// that changed. Words that blocked lacks are blocked. Sides above [MaxSide] count as MaxSide.
func (t *Terrain) Ground(s Shape, blocked Bits) *Ground {
	if t.ground == nil {
		t.ground = new(Ground)
	}
	g := t.ground
	s = Shape{min(s.Columns, MaxSide), min(s.Rows, MaxSide)}
	switch {
	case s != g.shape:
		g.reshape(s)
	case len(blocked) >= len(g.blocked) && slices.Equal(g.blocked, blocked[:len(g.blocked)]):
		return g
	}
	g.version++
	g.copyRows(blocked)
	for y := range int(s.Rows) {
		if g.changed[y] || y > 0 && g.changed[y-1] || y+1 < int(s.Rows) && g.changed[y+1] {
			g.makeRow(y)
		}
	}
	return g
}

func (g *Ground) reshape(s Shape) {
	g.shape = s
	for d := range g.beside {
		g.beside[d] = directionY[d]*int32(s.Columns) + directionX[d]
	}
	g.blocked = resize(g.blocked, s.Words())
	for i := range g.blocked {
		g.blocked[i] = ^uint64(0)
	}
	g.open, g.ways = resize(g.open, s.Cells()), resize(g.ways, s.Cells())
	clear(g.open)
	clear(g.ways)
	g.changed = resize(g.changed, int(s.Rows))
}

// copyRows copies the cells of the state, and notes the rows that changed.
func (g *Ground) copyRows(blocked Bits) {
	stride := g.shape.stride()
	for y := range g.changed {
		g.changed[y] = false
		for i := y * stride; i < (y+1)*stride; i++ {
			word := ^uint64(0)
			if i < len(blocked) {
				word = blocked[i]
			}
			if word != g.blocked[i] {
				g.blocked[i], g.changed[y] = word, true
			}
		}
	}
}

// openWord returns the open cells of word i of row y.
func (g *Ground) openWord(y, i int) uint64 {
	stride := g.shape.stride()
	if y < 0 || y >= int(g.shape.Rows) || i < 0 || i >= stride {
		return 0
	}
	word := ^g.blocked[y*stride+i]
	if rest := int(g.shape.Columns) - i*64; rest < 64 {
		word &= 1<<rest - 1
	}
	return word
}

// east and west return the cells of word i of row y whose neighbour in that direction is open.
func (g *Ground) east(y, i int) uint64 { return g.openWord(y, i)>>1 | g.openWord(y, i+1)<<63 }
func (g *Ground) west(y, i int) uint64 { return g.openWord(y, i)<<1 | g.openWord(y, i-1)>>63 }

// makeRow makes open and ways of a row, 64 cells at a time.
func (g *Ground) makeRow(y int) {
	columns := int(g.shape.Columns)
	for i := range g.shape.stride() {
		here, n, s, e, w := g.openWord(y, i), g.openWord(y+1, i), g.openWord(y-1, i), g.east(y, i), g.west(y, i)
		// A diagonal needs both cells beside it: units do not cut corners.
		ways := [8]uint64{e, n & e & g.east(y+1, i), n, n & w & g.west(y+1, i), w, s & w & g.west(y-1, i), s, s & e & g.east(y-1, i)}
		for d := range ways {
			ways[d] &= here
		}
		first := y*columns + i*64
		last := min(first+64, (y+1)*columns)
		for k, c := 0, first; c < last; k, c = k+8, c+8 {
			var eight [8]byte
			binary.LittleEndian.PutUint64(eight[:], transposed(&ways, k))
			copy(g.ways[c:last], eight[:])
		}
		for c := range g.open[first:last] {
			g.open[first+c] = here>>c&1 == 1
		}
	}
}

// transposed returns the bytes whose bit d is bit k, k+1 .. k+7 of word d. (Warren 2012, Hacker's Delight, 7-3.)
func transposed(words *[8]uint64, k int) (x uint64) {
	for d, word := range words {
		x |= word >> k & 0xff << (8 * d)
	}
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}

// Shape returns the size of the map.
func (g *Ground) Shape() Shape { return g.shape }

// Open reports whether units can stand on a cell.
func (g *Ground) Open(c Cell) bool { return uint64(c) < uint64(len(g.open)) && g.open[c] }

// Free reports whether units can stand at a position. Nothing outside of the map is free.
func (g *Ground) Free(p fixed.Vec2) bool {
	x, y := uint32(p.X>>32), uint32(p.Y>>32)
	return x < uint32(g.shape.Columns) && y < uint32(g.shape.Rows) && g.open[y*uint32(g.shape.Columns)+x]
}

// Nearest returns c if it is open, or else the first open cell on a spiral of some rings around it, see [Spiral]; false if there is none.
func (g *Ground) Nearest(c Cell, rings uint16) (open Cell, ok bool) {
	cx, cy := g.shape.XY(c)
	side := 2*uint32(min(rings, MaxSide)) + 1
	for n := range side * side {
		dx, dy := Spiral(n)
		if x, y := cx+dx, cy+dy; g.shape.Contains(x, y) {
			if near := g.shape.Cell(x, y); g.open[near] {
				return near, true
			}
		}
	}
	return 0, false
}

// resize returns s with n elements of any value.
func resize[S ~[]E, E any](s S, n int) S {
	if cap(s) < n {
		return make(S, n, n+n/4)
	}
	return s[:n]
}

// Sees reports whether no blocked cell is on the straight line between two positions. It is exact, and the same in both
// directions. A line through the corner of cells needs all four of them open. Nothing outside of the map is open.
func (g *Ground) Sees(a, b fixed.Vec2) bool {
	if !g.Free(a) || !g.Free(b) {
		return false
	}
	x, y, toX, toY := whole(a.X), whole(a.Y), whole(b.X), whole(b.Y)
	right, up := int32(1), int32(1)
	if toX < x {
		right = -1
	}
	if toY < y {
		up = -1
	}
	for x != toX || y != toY {
		switch {
		case y == toY:
			x += right
		case x == toX:
			y += up
		default:
			switch side := corner(a, b, x, y, right, up); {
			case side > 0:
				x += right
			case side < 0:
				y += up
			default: // exactly through it
				if !g.openAt(x+right, y) || !g.openAt(x, y+up) {
					return false
				}
				x, y = x+right, y+up
			}
		}
		if !g.openAt(x, y) {
			return false
		}
	}
	return true
}

// corner tells where the line from a to b leaves cell (x, y): 1 towards right, -1 towards up, 0 through the corner between them.
func corner(a, b fixed.Vec2, x, y, right, up int32) int {
	at := fixed.Vec2{X: fixed.Q(x+(right+1)/2) << 32, Y: fixed.Q(y+(up+1)/2) << 32}
	return fixed.Orient2D(a, b, at) * int(right*up)
}

func (g *Ground) openAt(x, y int32) bool {
	return g.shape.Contains(x, y) && g.open[uint32(y)*uint32(g.shape.Columns)+uint32(x)]
}
