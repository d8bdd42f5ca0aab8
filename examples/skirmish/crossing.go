package skirmish

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An effect is what a zone does to a unit. It gets the indexes of both.
type effect func(w *World, zone, unit int)

// entered and left are the effects by kind of zone on units that enter and on units that leave. Nil disables one. A unit
// that dies in a zone leaves it. A unit that a teleport takes does not.
var (
	entered = [zoneKinds]effect{
		Teleport: (*World).teleport,
		Shrine:   (*World).heal,
		Hoard:    (*World).reward,
		Spawn:    (*World).claim,
	}
	left = [zoneKinds]effect{
		Hoard: (*World).carryOff,
		Spawn: (*World).yield,
	}
)

// cross finds units that have left or entered a zone, and calls the effects: first for all units that leave, unit by unit,
// then for those that enter, zone by zone.
func (w *World) cross() {
	for i := range w.Units {
		if u := &w.Units[i]; u.Zone != 0 && (u.Health == 0 || int(u.Zone) > len(w.Zones) || !w.Zones[u.Zone-1].holds(u)) {
			w.leave(i)
		}
	}
	w.enter()
}

// leave calls the effect of the zone that a unit has left.
func (w *World) leave(i int) {
	u := &w.Units[i]
	z := int(u.Zone) - 1
	u.Zone = 0
	if z >= len(w.Zones) || w.Zones[z].Kind >= zoneKinds {
		return
	}
	kind := w.Zones[z].Kind
	lockstep.Emit(w.workspace.turn, Exited{Unit: u.ID, Zone: uint8(z), Kind: kind})
	if f := left[kind]; f != nil {
		f(w, z, i)
	}
}

func (w *World) enter() {
	s := &w.workspace
	for z := range w.Zones {
		zone := &w.Zones[z]
		if z >= 255 {
			break // Unit.Zone has room for 255
		}
		inside := s.selected[:0]
		for b := s.grid.Around(zone.Pos, zone.Radius+fixed.One); b.Next(); {
			for _, i := range b.IDs() {
				u := &w.Units[i]
				if u.Zone == 0 && u.Health > 0 && !u.Kind.Building() && zone.holds(u) {
					inside = append(inside, int32(i))
				}
			}
		}
		slices.Sort(inside)
		s.selected = inside
		for _, i := range inside {
			u := &w.Units[i]
			ready := zone.Ready <= w.Match.Tick
			if !ready && zone.Kind == Teleport && zone.leads(u) {
				continue // it waits for its turn
			}
			u.Zone = uint8(z + 1)
			if ready && zone.Kind < zoneKinds {
				lockstep.Emit(s.turn, Entered{Unit: u.ID, Zone: uint8(z), Kind: zone.Kind})
				entered[zone.Kind](w, z, int(i))
			}
		}
	}
}
