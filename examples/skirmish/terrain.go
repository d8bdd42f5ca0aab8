package skirmish

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
)

// A Map is the ground. It does not change after tick 0.
type Map struct {
	Size    uint16   // cells along a side
	Blocked []uint64 // rows of ⌈Size/64⌉ words: bit x%64 of word x/64 is set where the cell is rock
}

// stride returns the words of one row.
func (m *Map) stride() int { return (int(m.Size) + 63) / 64 }

// Rock reports whether a cell is rock. Everything outside of the map is.
func (m *Map) Rock(x, y int) bool {
	if x < 0 || y < 0 || x >= int(m.Size) || y >= int(m.Size) {
		return true
	}
	word := y*m.stride() + x/64
	return word >= len(m.Blocked) || m.Blocked[word]>>(x%64)&1 == 1
}

func (m *Map) set(x, y int, rock bool) {
	word, bit := y*m.stride()+x/64, uint64(1)<<(x%64)
	if rock {
		m.Blocked[word] |= bit
	} else {
		m.Blocked[word] &^= bit
	}
}

// ground is the map in the form for Step. The cells at the edge are never open, so every open cell has eight
// neighbours. Cell c is (c%side, c/side).
type ground struct {
	made   Map // the source of the other fields
	side   int32
	open   []bool
	beside [9]int32 // difference of a cell and its neighbour in a direction
}

// Directions from 1, beginning in the east; 0 is none.
var (
	directionX = [9]int32{0, 1, 1, 0, -1, -1, -1, 0, 1}
	directionY = [9]int32{0, 0, 1, 1, 1, 0, -1, -1, -1}
)

// derive rebuilds g if the map has changed, and reports whether it has.
func (g *ground) derive(m *Map) bool {
	if g.open != nil && g.made.Size == m.Size && slices.Equal(g.made.Blocked, m.Blocked) {
		return false
	}
	g.made.Size, g.made.Blocked = m.Size, append(g.made.Blocked[:0], m.Blocked...)
	g.side = int32(min(max(m.Size, 4), MaxSize))
	for d := range g.beside {
		g.beside[d] = directionY[d]*g.side + directionX[d]
	}
	g.open = resize(g.open, int(g.side*g.side))
	for c := range g.open {
		x, y := c%int(g.side), c/int(g.side)
		edge := x == 0 || y == 0 || x == int(g.side)-1 || y == int(g.side)-1
		g.open[c] = !edge && !m.Rock(x, y)
	}
	return true
}

// cell returns the cell of a place, or the nearest cell if the place is outside of the map.
func (g *ground) cell(p fixed.Vec2) uint32 {
	x := min(max(int64(p.X)>>32, 0), int64(g.side-1))
	y := min(max(int64(p.Y)>>32, 0), int64(g.side-1))
	return uint32(y)*uint32(g.side) + uint32(x)
}

// center returns the middle of a cell.
func (g *ground) center(c uint32) fixed.Vec2 {
	return fixed.Vec2{
		X: fixed.Q(c%uint32(g.side))<<32 + fixed.Half,
		Y: fixed.Q(c/uint32(g.side))<<32 + fixed.Half,
	}
}

// free reports whether units can stand at a place.
func (g *ground) free(p fixed.Vec2) bool { return g.open[g.cell(p)] }

// sees reports whether two places are at most 24 cells apart, and the straight line between them is free of rock.
func (g *ground) sees(a, b fixed.Vec2) bool {
	dx, dy := b.X-a.X, b.Y-a.Y
	far := max(dx.Abs(), dy.Abs())
	if far > 24*fixed.One {
		return false
	}
	steps := fixed.Q(int64(far)>>31 + 1) // of at most half a cell
	for i := fixed.Q(1); i <= steps; i++ {
		if !g.free(fixed.Vec2{X: a.X + dx/steps*i, Y: a.Y + dy/steps*i}) {
			return false
		}
	}
	return true
}

// nearestOpen returns c if it is open, or else the first open cell on a spiral around it, or 0 if there is none within
// 32 cells.
func (g *ground) nearestOpen(c uint32) uint32 {
	cx, cy := int32(c)%g.side, int32(c)/g.side
	for n := range uint32(65 * 65) {
		dx, dy := spiral(n)
		x, y := cx+dx, cy+dy
		if x > 0 && y > 0 && x < g.side && y < g.side && g.open[y*g.side+x] {
			return uint32(y*g.side + x)
		}
	}
	return 0
}

// spiral returns the n-th cell of a walk around (0,0) in growing squares, which visits every cell once.
func spiral(n uint32) (x, y int32) {
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

// middle returns the middle of the map.
func (m *Map) middle() fixed.Vec2 {
	half := fixed.Q(m.Size) * fixed.Half
	return fixed.Vec2{X: half, Y: half}
}

// resize returns s with n elements of any value.
func resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n, n+n/4)
	}
	return s[:n]
}
