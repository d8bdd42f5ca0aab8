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

// Next returns the next cell of the shortest way from a cell to the goal, computed as far as needed; false at the goal, or without a way.
func (f *Flow) Next(g *Ground, goal, from Cell) (next Cell, ok bool) {
	f.aim(g, goal)
	for f.left > 0 && uint64(from) < uint64(len(f.cells)) && f.cells[from]&flowFinal == 0 {
		f.run(f.steps + 256)
	}
	return f.Known(from)
}

// Known is Next for the steps that [Flow.Run] has computed: the way may be longer than the shortest, or not known yet.
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

// spread lets the ways of a cell's neighbours lead over the cell, where that is shorter, and appends them to the stacks of their costs.
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

// A Field is the part of a shared [Flow] that belongs into the state. The directions follow from it and the ground.
type Field struct {
	Goal   Cell
	Steps  uint32 // computed so far
	Wanted uint32 // last tick in which a unit waited for the field to reach it
	Used   uint32 // last tick in which a unit followed it; 0 while the slot is free
}

// Fields are the flow fields in use, as slots, such as [64]Field in the state. All units with one goal share a field, and
// the work for all of them is bounded in each tick. Ticks begin at 1.
//
//	slot := fields.Claim(unit.Goal, tick, 40)
//	next, ok := flows.Follow(ground, fields, slot, cell, tick)  // false: wait
//	...
//	flows.Grow(ground, fields, tick, 4096)                      // once in each tick
type Fields []Field

// Claim returns the slot of the field that leads to a goal. If there is none, it takes a free slot, or else the one that
// has been unused for longest and for more than idle ticks. It returns -1 if there is none.
func (f Fields) Claim(goal Cell, tick, idle uint32) int {
	best, oldest := -1, tick
	for i := range f {
		used := f[i].Used
		if used != 0 && f[i].Goal == goal {
			return i
		}
		if used < oldest && (used == 0 || used+idle < tick) {
			best, oldest = i, used
		}
	}
	if best >= 0 {
		f[best] = Field{Goal: goal, Wanted: tick, Used: tick}
	}
	return best
}

// Leads reports whether a slot has a field that leads to a goal.
func (f Fields) Leads(slot int, goal Cell) bool {
	return uint(slot) < uint(len(f)) && f[slot].Used != 0 && f[slot].Goal == goal
}

// Flows has the directions of [Fields]. Keep it in a derived field of the state; the zero value works.
type Flows struct{ flows []Flow }

// Grow computes the fields for which units wait since the last tick, with a budget of steps for all of them.
func (f *Flows) Grow(g *Ground, fields Fields, tick, budget uint32) {
	for k := range uint32(len(fields)) {
		slot := int((k + tick) % uint32(len(fields))) // a different slot is first in each tick
		field := &fields[slot]
		if field.Used == 0 || field.Wanted+1 < tick {
			continue
		}
		flow := f.flow(g, fields, slot)
		steps := flow.Run(g, field.Goal, field.Steps+budget)
		budget -= steps - field.Steps
		field.Steps = steps
	}
}

// Follow returns the next cell on the way of a slot's field, and marks the field as used. ok is false if the field has not
// reached the cell; then Grow continues with it. At the goal the next cell is the goal.
func (f *Flows) Follow(g *Ground, fields Fields, slot int, from Cell, tick uint32) (next Cell, ok bool) {
	field := &fields[slot]
	field.Used = tick
	if next, ok = f.flow(g, fields, slot).Known(from); ok || from == field.Goal {
		return next, true
	}
	field.Wanted = tick
	return from, false
}

// flow returns the flow of a slot, with the number of steps in the state.
func (f *Flows) flow(g *Ground, fields Fields, slot int) *Flow {
	if len(f.flows) < len(fields) {
		f.flows = append(f.flows, make([]Flow, len(fields)-len(f.flows))...)
	}
	flow := &f.flows[slot]
	if flow.aimed(g, fields[slot].Goal, fields[slot].Steps) {
		return flow
	}
	flow.Run(g, fields[slot].Goal, fields[slot].Steps)
	return flow
}

// Paths leads units to goals by flow fields, which it computes as far as a unit needs them and keeps for the next units. It
// is a cache: keep it in a derived field of the state; the zero value works. Its answers depend on the ground and the
// arguments alone, so it does not matter which fields it still has.
//
// Its cost in a tick is not bounded: many new goals in one tick compute many fields. See [Fields] for large maps.
type Paths struct {
	flows []Flow
	used  []uint64 // by flow: clock of its last use
	clock uint64
}

const pathFields = 64

// Next returns the next cell of the shortest way from a cell to a goal. ok is false at the goal, and if there is no way.
func (p *Paths) Next(g *Ground, goal, from Cell) (next Cell, ok bool) {
	return p.flow(g, goal).Next(g, goal, from)
}

// Cost returns the cost of the shortest way from a cell to a goal. ok is false if there is none.
func (p *Paths) Cost(g *Ground, goal, from Cell) (cost uint32, ok bool) {
	return p.flow(g, goal).Cost(g, goal, from)
}

// flow returns the flow that leads to a goal, or the one that has been unused for longest.
func (p *Paths) flow(g *Ground, goal Cell) *Flow {
	p.clock++
	oldest := 0
	for i := range p.flows {
		if f := &p.flows[i]; f.ground == g && f.goal == goal {
			p.used[i] = p.clock
			return f
		}
		if p.used[i] < p.used[oldest] {
			oldest = i
		}
	}
	if len(p.flows) < pathFields {
		oldest = len(p.flows)
		p.flows, p.used = append(p.flows, Flow{}), append(p.used, 0)
	}
	p.used[oldest] = p.clock
	return &p.flows[oldest]
}

// A Search finds ways for single units with A*. It keeps nothing but memory from call to call; the zero value works.
type Search struct {
	// Limit is the number of cells that a search may visit before it gives up; 0 is no limit.
	Limit uint32

	visit []visit
	epoch uint32 // of the visits of the present search
	stack [8][]open
}

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
