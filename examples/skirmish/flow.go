package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
)

const (
	fieldSlots = 64 // flow fields at a time
	fieldRest  = 40 // ticks until the slot of an unused field may lead to another goal
)

// Paths are the flow fields in use. All units with one goal share a field, and a field is computed over several ticks. No
// unit has cell 0 as its goal.
type Paths struct {
	Fields [fieldSlots]grid.Field
}

// grow computes the fields that units wait for, within the budget of a tick.
func (w *World) grow() {
	s := &w.workspace
	s.flows.Grow(s.ground.Ground, w.Paths.Fields[:], w.Match.Tick, uint32(max(2048, s.ground.Cells()/32)))
}

// waypoint returns the next place on unit i's way, or false if the unit has to wait for its flow field.
func (w *World) waypoint(i int) (fixed.Vec2, bool) {
	g, fields, tick := &w.workspace.ground, grid.Fields(w.Paths.Fields[:]), w.Match.Tick
	u := &w.Units[i]
	if u.looksAhead(tick) {
		u.Direct = w.workspace.surveys[i].ahead(w, u)
		if u.Slot == freshSlot {
			u.Slot = fieldless
		}
	}
	if u.Direct || u.Via == 0 || int(u.Via) >= g.Cells() {
		return u.Goal, true
	}
	if !fields.Leads(int(u.Slot), u.Via) {
		slot := fields.Claim(u.Via, tick, fieldRest)
		if slot < 0 {
			u.Slot = fieldless
			return u.Goal, true // too many fields in use: try the straight way
		}
		u.Slot = uint8(slot)
	}
	here := g.At(u.Pos)
	if here == u.Via || !g.Open(here) {
		fields[u.Slot].Used = tick
		return u.Goal, true
	}
	next, ok := w.workspace.flows.Follow(g.Ground, fields, int(u.Slot), here, tick)
	if !ok {
		return u.Pos, false
	}
	return g.Center(next), true
}
