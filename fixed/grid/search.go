package grid

import "math/bits"

// A Search finds ways for single units with A*. It keeps nothing but memory from call to call; the zero value works.
type Search struct {
	// Limit is the number of cells that a search may visit before it gives up; 0 is no limit.
	Limit uint32

	visit []visit
	epoch uint32 // of the visits of the present search
	stack [8][]open
}

// A visit is what a search knows about a cell.
type visit struct {
	epoch uint32
	cost  uint32
	from  uint8 // direction from the previous cell
}

// An open is a cell that waits in the stack of its estimate, with its cost then.
type open struct {
	c    Cell
	cost uint32
}

// Find appends the cells of a shortest way to path, without from and with to. ok is false if there is no way, or if the
// limit is too low. Of several shortest ways it finds the one that the order of [Ground] directions and a stack for
// each estimate give: the newest cell of the least estimate is visited first.
func (s *Search) Find(g *Ground, from, to Cell, path []Cell) (way []Cell, ok bool) {
	if !g.Open(from) || !g.Open(to) {
		return path, false
	}
	s.begin(len(g.ways))
	goalX, goalY := g.shape.XY(to)
	estimate := g.estimate(from, goalX, goalY)
	s.push(from, 0, 0, estimate)
	for left, visits := 1, uint32(0); left > 0; {
		stack := &s.stack[estimate%8]
		if len(*stack) == 0 {
			estimate++ // estimates never fall, because a step costs at least as much as it brings nearer
			continue
		}
		top := (*stack)[len(*stack)-1]
		*stack = (*stack)[:len(*stack)-1]
		left--
		if s.visit[top.c].cost != top.cost {
			continue // a shorter way was found
		}
		if top.c == to {
			return s.trace(g, from, to, path), true
		}
		if visits++; visits == s.Limit {
			return path, false
		}
		left += s.spread(g, top, goalX, goalY)
	}
	return path, false
}

// begin forgets the last search.
func (s *Search) begin(cells int) {
	if s.epoch++; len(s.visit) != cells || s.epoch == 0 {
		s.visit = resize(s.visit, cells)
		clear(s.visit)
		s.epoch = 1
	}
	for i := range s.stack {
		s.stack[i] = s.stack[i][:0]
	}
}

// estimate returns the cost of a way to (x, y) if nothing were blocked.
func (g *Ground) estimate(c Cell, x, y int32) uint32 {
	cx, cy := g.shape.XY(c)
	dx, dy := max(cx-x, x-cx), max(cy-y, y-cy)
	return uint32(Straight*max(dx, dy) + (Diagonal-Straight)*min(dx, dy))
}

// push records a way to a cell.
func (s *Search) push(c Cell, cost uint32, from uint8, estimate uint32) {
	s.visit[c] = visit{epoch: s.epoch, cost: cost, from: from}
	stack := &s.stack[estimate%8] // a step raises the estimate by at most 6
	*stack = append(*stack, open{c, cost})
}

// spread records the ways over a cell that are shorter than those known, and returns their number.
func (s *Search) spread(g *Ground, top open, goalX, goalY int32) (n int) {
	for m := g.ways[top.c]; m != 0; m &= m - 1 {
		d := bits.TrailingZeros8(m) & 7
		next := Cell(int32(top.c) + g.beside[d])
		cost := top.cost + Straight + uint32(d&1)
		if v := &s.visit[next]; v.epoch != s.epoch || cost < v.cost {
			s.push(next, cost, uint8(d), cost+g.estimate(next, goalX, goalY))
			n++
		}
	}
	return n
}

// trace appends the way that was found.
func (s *Search) trace(g *Ground, from, to Cell, path []Cell) []Cell {
	first := len(path)
	for c := to; c != from; c = Cell(int32(c) - g.beside[s.visit[c].from]) {
		path = append(path, c)
	}
	for i, j := first, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
