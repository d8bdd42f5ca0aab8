package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// fieldSlots is how many flow fields there are at a time.
const fieldSlots = 64

// Paths are the flow fields in use. A field leads from everywhere to its goal; all units that were sent to one goal share
// it. What a field says is not part of the state, since it follows from the map, the goal and the number of steps taken
// to work it out. That number is in the state, so the tick at which a field reaches a unit is the same everywhere.
type Paths struct {
	Fields [fieldSlots]Field
}

// A Field is one flow field.
type Field struct {
	Goal   uint32 // cell it leads to; 0 while the slot is free
	Steps  uint32 // taken to work it out
	Wanted uint32 // last tick in which a unit stood where the field did not reach yet
	Used   uint32 // last tick in which a unit followed it
}

// flow is what a field says, after a number of steps of Dijkstra's algorithm: straight ways cost 2, diagonal ones 3.
type flow struct {
	goal    uint32
	steps   uint32
	cost    []uint16 // by cell, +1; 0 where it has not been
	to      []uint8  // by cell: direction of the next cell, 0 where unknown, and at the goal
	fringe  [4][]uint32
	current uint32 // cost that is worked on
	left    int    // cells in fringe
}

// start makes f the field of a goal, with no steps taken.
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

// run takes steps until there have been n, or nothing is left to do.
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

// spread tells the neighbours of a cell that the way leads over it, where that is shorter than what they know.
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
			continue // no way around a corner of rock
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

// grow works on the fields that units wait for, within the budget of a tick.
func (w *World) grow() {
	g := &w.workspace.ground
	tick := w.Match.Tick
	budget := uint32(max(2048, len(g.open)/32))
	for k := range uint32(fieldSlots) {
		slot := (k + tick) % fieldSlots // another one goes first in every tick
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

// flow returns what the field of a slot says after the steps that the state tells.
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

// claim finds the slot of the field that leads to a cell, or takes one that nobody has used for two seconds.
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

// waypoint returns where a unit goes next to get to its goal, and false if it has to wait for that to be worked out.
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
