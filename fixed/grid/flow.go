package grid

import "math/bits"

// The costs of steps. A unit on a shortest way needs about √2 times as long for a diagonal.
const (
	Straight = 2
	Diagonal = 3
	MaxCost  = 1<<16 - 8 // of a way in a [Flow]; farther cells count as unreachable
)

// A Flow is a flow field: it leads from every cell to one goal on a shortest way. It is a cache, and the zero value works.
// Each call names the ground and the goal, so it never answers for another ground or goal.
//
// A field is computed in steps, one for each cell that it visits, and the first n steps give the same directions on every
// machine. So a game can spread the work over ticks with the number of steps in the state, see [Fields].
type Flow struct {
	ground  *Ground
	version uint64
	goal    Cell
	steps   uint32
	current uint32 // cost of the present step
	left    int    // cells in fringe

	cells  []flowCell
	fringe [4][]uint32 // waiting cells by cost modulo 4
}

// A flowCell is what a [Flow] knows of a cell: 0 where it knows no way, else 1 + the direction of the next cell (0 at the
// goal) and the bits below. A byte is enough, because the costs of the waiting cells differ by less than 4.
type flowCell uint8

const (
	flowNext  flowCell = 1<<4 - 1 // 1 + direction
	flowKnown flowCell = 1 << 4
	flowFinal flowCell = 1 << 5 // the way is a shortest one, and was spread to the neighbours
	flowCost           = 6      // shift of the cost modulo 4 of the way
)

// Run brings the field to n steps, or to the end if it has fewer, and returns the number of steps. It continues from the
// steps of the last call, unless ground or goal are others, or the field has more than n steps.
func (f *Flow) Run(g *Ground, goal Cell, n uint32) uint32 {
	f.aim(g, goal)
	if f.steps > n {
		f.start(g, goal)
	}
	f.run(n)
	return f.steps
}

// Next returns the next cell of the shortest way from a cell to the goal. ok is false at the goal, and if there is no way.
// It computes the field as far as needed.
func (f *Flow) Next(g *Ground, goal, from Cell) (next Cell, ok bool) {
	f.aim(g, goal)
	for f.left > 0 && uint64(from) < uint64(len(f.cells)) && f.cells[from]&flowFinal == 0 {
		f.run(f.steps + 256)
	}
	return f.Known(from)
}

// Known is Next for the steps that [Flow.Run] has computed: the way may be longer than the shortest, and ok is also false
// if no way is known yet.
func (f *Flow) Known(from Cell) (next Cell, ok bool) {
	if uint64(from) >= uint64(len(f.cells)) || f.cells[from]&flowNext == 0 {
		return from, false
	}
	return Cell(int32(from) + f.ground.beside[f.cells[from]&flowNext-1]), true
}

// Cost returns the cost of the shortest way from a cell to the goal. ok is false if there is none.
func (f *Flow) Cost(g *Ground, goal, from Cell) (cost uint32, ok bool) {
	f.Next(g, goal, from)
	if uint64(from) >= uint64(len(f.cells)) || f.cells[from] == 0 {
		return 0, false
	}
	for f.cells[from]&flowNext != 0 {
		d := f.cells[from]&flowNext - 1
		cost += Straight + uint32(d&1)
		from = Cell(int32(from) + f.ground.beside[d])
	}
	return cost, true
}

// aimed reports whether the field has exactly n steps for a ground and goal.
func (f *Flow) aimed(g *Ground, goal Cell, n uint32) bool {
	return f.ground == g && f.version == g.version && f.goal == goal && f.steps == n
}

// aim restarts the field if it is one of another ground or goal.
func (f *Flow) aim(g *Ground, goal Cell) {
	if !f.aimed(g, goal, f.steps) {
		f.start(g, goal)
	}
}

// start resets the field to no steps.
func (f *Flow) start(g *Ground, goal Cell) {
	f.ground, f.version, f.goal = g, g.version, goal
	f.steps, f.current, f.left = 0, 0, 0
	f.cells = resize(f.cells, len(g.ways))
	clear(f.cells)
	for i := range f.fringe {
		f.fringe[i] = f.fringe[i][:0]
	}
	if uint64(goal) < uint64(len(g.ways)) {
		f.cells[goal] = flowKnown
		f.fringe[0] = append(f.fringe[0], uint32(goal))
		f.left = 1
	}
}

// run computes steps until there are n in all, or the field is complete: Dijkstra's algorithm with a stack for each of the
// next costs. Every step leads to one of the next three costs, so four stacks are enough.
func (f *Flow) run(n uint32) {
	for f.steps < n && f.left > 0 {
		stack := f.fringe[f.current%4]
		if len(stack) == 0 {
			f.current++
			continue
		}
		near, far := f.fringe[(f.current+Straight)%4], f.fringe[(f.current+Diagonal)%4]
		before := len(near) + len(far)
		todo := int(min(uint32(len(stack)), n-f.steps))
		for i := len(stack) - 1; i >= len(stack)-todo; i-- {
			if c := stack[i]; f.cells[c]&flowFinal == 0 { // else a shorter way was found
				f.cells[c] |= flowFinal
				near, far = f.spread(c, near, far)
			}
		}
		f.left += len(near) + len(far) - before - todo
		f.steps += uint32(todo)
		f.fringe[f.current%4] = stack[:len(stack)-todo]
		f.fringe[(f.current+Straight)%4], f.fringe[(f.current+Diagonal)%4] = near, far
	}
}

// spread lets the ways of a cell's neighbours lead over the cell, where that is shorter, and appends them to the stacks of
// their costs.
func (f *Flow) spread(c uint32, near, far []uint32) (nearer, farther []uint32) {
	ways, beside, cells := uint32(f.ground.ways[c]), &f.ground.beside, f.cells
	if f.current+Straight > MaxCost {
		return near, far
	}
	straight := flowKnown | flowCell((f.current+Straight)&3)<<flowCost
	diagonal := flowKnown | flowCell((f.current+Diagonal)&3)<<flowCost
	for m := ways & 0b01010101; m != 0; m &= m - 1 {
		d := bits.TrailingZeros32(m) & 7
		n := uint32(int32(c) + beside[d])
		if v := cells[n]; v == 0 || v&^flowNext == diagonal { // not final, so its cost is the present one and 0 to 3
			cells[n] = straight | flowCell(d^4) + 1
			near = append(near, n)
		}
	}
	if f.current+Diagonal > MaxCost {
		return near, far
	}
	for m := ways & 0b10101010; m != 0; m &= m - 1 {
		d := bits.TrailingZeros32(m) & 7
		n := uint32(int32(c) + beside[d])
		if cells[n] == 0 {
			cells[n] = diagonal | flowCell(d^4) + 1
			far = append(far, n)
		}
	}
	return near, far
}
