package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// fieldSlots is the number of flow fields at a time.
const fieldSlots = 64

// Paths are the flow fields in use. A field leads from every cell to its goal; all units with one goal share it. The
// state has no directions, because they follow from the map, the goal and the number of computed steps. That number is
// in the state, so a field reaches a unit at the same tick on every machine.
type Paths struct {
	Fields [fieldSlots]Field
}

// A Field is one flow field.
type Field struct {
	Goal   uint32 // cell; 0 while the slot is free
	Steps  uint32 // computed so far
	Wanted uint32 // last tick in which a unit waited for the field to reach it
	Used   uint32 // last tick in which a unit followed it
}

// flow has the directions of a field after a number of steps of Dijkstra's algorithm: a straight way costs 2, a
// diagonal 3.
type flow struct {
	goal    uint32
	steps   uint32
	cost    []uint16 // 1 + cost by cell; 0 where unknown
	to      []uint8  // by cell: direction of the next cell; 0 where unknown, and at the goal
	fringe  [4][]uint32
	current uint32 // cost of the present step
	left    int    // cells in fringe
}

// start resets f to a goal, without steps.
func (f *flow) start(goal uint32, cells int) {
	f.goal, f.steps, f.current, f.left = goal, 0, 0, 0
	f.cost, f.to = resize(f.cost, cells), resize(f.to, cells)
	clear(f.cost)
	clear(f.to)
	for i := range f.fringe {
		f.fringe[i] = f.fringe[i][:0]
	}
	if goal < uint32(cells) {
		f.cost[goal] = 1
		f.fringe[0] = append(f.fringe[0], goal)
		f.left = 1
	}
}

// run computes steps until there are n in all, or the field is complete.
func (f *flow) run(g *ground, n uint32) {
	for f.steps < n && f.left > 0 {
		b := &f.fringe[f.current%4]
		if len(*b) == 0 {
			f.current++
			continue
		}
		c := (*b)[len(*b)-1]
		*b = (*b)[:len(*b)-1]
		f.left--
		f.steps++
		if uint32(f.cost[c]) == f.current%(1<<16)+1 {
			f.spread(g, int32(c))
		}
	}
}

// spread lets the way of a cell's neighbours lead over the cell, where that is shorter.
func (f *flow) spread(g *ground, c int32) {
	if !g.open[c] {
		return
	}
	for d := int32(1); d <= 8; d++ {
		n := c + g.beside[d]
		if !g.open[n] {
			continue
		}
		cost := f.current + 3
		if d%2 == 1 { // straight
			cost = f.current + 2
		} else if !g.open[c+g.beside[d-1]] || !g.open[c+g.beside[d%8+1]] {
			continue // a diagonal must not cut a corner of rock
		}
		if old := uint32(f.cost[n]); old == 0 || cost+1 < old {
			if cost > 1<<16-8 {
				continue
			}
			f.cost[n] = uint16(cost + 1)
			f.to[n] = uint8((d+3)%8 + 1)
			f.fringe[cost%4] = append(f.fringe[cost%4], uint32(n))
			f.left++
		}
	}
}

// grow computes the fields that units wait for, within the budget of a tick.
func (w *World) grow() {
	g := &w.workspace.ground
	tick := w.Match.Tick
	budget := uint32(max(2048, len(g.open)/32))
	for k := range uint32(fieldSlots) {
		slot := (k + tick) % fieldSlots // a different slot is first in each tick
		field := &w.Paths.Fields[slot]
		if field.Goal == 0 || field.Wanted+1 < tick {
			continue
		}
		f := w.flow(slot)
		f.run(g, field.Steps+budget)
		budget -= f.steps - field.Steps
		field.Steps = f.steps
	}
}

// flow returns the field of a slot after the number of steps in the state.
func (w *World) flow(slot uint32) *flow {
	field, f, g := &w.Paths.Fields[slot], &w.workspace.flows[slot], &w.workspace.ground
	if f.goal != field.Goal || f.steps > field.Steps || len(f.to) != len(g.open) {
		f.start(field.Goal, len(g.open))
	}
	if f.steps < field.Steps {
		f.run(g, field.Steps)
	}
	return f
}

// claim returns the slot of the field that leads to a cell. If there is none, it takes a slot that has been unused for
// two seconds.
func (w *World) claim(goal uint32) uint8 {
	tick := w.Match.Tick
	best, oldest := uint8(fieldless), tick
	for i := range w.Paths.Fields {
		f := &w.Paths.Fields[i]
		if f.Goal == goal {
			return uint8(i)
		}
		if f.Goal == 0 && oldest > 0 {
			best, oldest = uint8(i), 0
		} else if f.Goal != 0 && f.Used+40 < tick && f.Used < oldest {
			best, oldest = uint8(i), f.Used
		}
	}
	if best != fieldless {
		w.Paths.Fields[best] = Field{Goal: goal, Wanted: tick, Used: tick}
	}
	return best
}

// waypoint returns the next place on a unit's way, or false if the unit has to wait for its flow field.
func (w *World) waypoint(u *Unit) (fixed.Vec2, bool) {
	g, tick := &w.workspace.ground, w.Match.Tick
	if u.Slot == freshSlot || (tick+uint32(u.ID))%lookout == 0 {
		u.Direct = g.sees(u.Pos, u.Goal)
		if u.Slot == freshSlot {
			u.Slot = fieldless
		}
	}
	if u.Direct || u.Via == 0 || u.Via >= uint32(len(g.open)) {
		return u.Goal, true
	}
	if u.Slot >= fieldSlots || w.Paths.Fields[u.Slot].Goal != u.Via {
		if u.Slot = w.claim(u.Via); u.Slot >= fieldSlots {
			return u.Goal, true // too many fields in use: try the straight way
		}
	}
	field := &w.Paths.Fields[u.Slot]
	field.Used = tick
	to := w.flow(uint32(u.Slot)).to
	here := g.cell(u.Pos)
	d := to[here]
	if d == 0 {
		if here == u.Via || !g.open[here] {
			return u.Goal, true
		}
		field.Wanted = tick
		return u.Pos, false
	}
	next := uint32(int32(here) + g.beside[d])
	return g.center(next), true
}
