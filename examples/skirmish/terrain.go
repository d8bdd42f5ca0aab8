package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

// A Map is the ground. It does not change after tick 0.
type Map struct {
	Size    uint16    // cells along a side
	Blocked grid.Bits // the cells that are rock
}

// newMap returns ground without rock.
func newMap(size uint16) Map {
	m := Map{Size: size}
	m.Blocked = m.shape().NewBits()
	return m
}

func (m *Map) shape() grid.Shape { return grid.Shape{Columns: m.Size, Rows: m.Size} }

// Rock reports whether a cell is rock. Everything outside of the map is.
func (m *Map) Rock(x, y int) bool {
	s := m.shape()
	return !s.Contains(int32(x), int32(y)) || len(m.Blocked) < s.Words() || m.Blocked.Has(s, int32(x), int32(y))
}

func (m *Map) set(x, y int, rock bool) { m.Blocked.Put(m.shape(), int32(x), int32(y), rock) }

// fillPockets makes all cells rock that cannot be reached from an open cell. The edge must be rock.
func (m *Map) fillPockets(x, y int) {
	size := int(m.Size)
	reached := make([]bool, size*size)
	queue := []int{y*size + x}
	reached[queue[0]] = true
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, n := range []int{c - 1, c + 1, c - size, c + size} { // the edge is rock: n is on the map
			if !reached[n] && !m.Rock(n%size, n/size) {
				reached[n] = true
				queue = append(queue, n)
			}
		}
	}
	for c, ok := range reached {
		if !ok {
			m.set(c%size, c/size, true)
		}
	}
}

// ground is the map in the form for Step.
type ground struct {
	grid.Shape
	*grid.Ground
	terrain grid.Terrain
	walls   grid.Bits // of the map, with a closed edge
}

// derive makes g the ground of a map, whose edge is closed even if its cells are not rock.
func (g *ground) derive(m *Map) {
	if m.Size < 4 || m.Size > MaxSize { // no match has such a map
		m = &Map{Size: MinSize}
	}
	g.Shape = m.shape()
	g.walls = append(g.walls[:0], m.Blocked...)
	last := int32(m.Size) - 1
	g.walls.Row(g.Shape, 0, 0, last)
	g.walls.Row(g.Shape, last, 0, last)
	for y := range last {
		g.walls.Put(g.Shape, 0, y, true)
		g.walls.Put(g.Shape, last, y, true)
	}
	g.Ground = g.terrain.Ground(g.Shape, g.walls)
}

// sees reports whether two places are at most 24 cells apart, and the straight line between them is free of rock.
func (g *ground) sees(a, b fixed.Vec2) bool {
	dx, dy := b.X-a.X, b.Y-a.Y
	far := max(dx.Abs(), dy.Abs())
	if far > 24*fixed.One {
		return false
	}
	steps := fixed.Q(int64(far)>>31 + 1) // of at most half a cell
	for i := fixed.Q(1); i <= steps; i++ {
		if !g.Free(fixed.Vec2{X: a.X + dx/steps*i, Y: a.Y + dy/steps*i}) {
			return false
		}
	}
	return true
}

// nearestOpen returns the cell of a place if it is open, or else the first open cell on a spiral around it, or 0 if there
// is none within 32 cells.
func (g *ground) nearestOpen(p fixed.Vec2) grid.Cell {
	open, _ := g.Nearest(g.At(p), 32)
	return open
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
