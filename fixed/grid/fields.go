package grid

// A Field is the part of a shared [Flow] that belongs into the state: the goal, and how far it is computed. The directions
// follow from these and the ground, so they are not in the state.
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
