package skirmish

import (
	"slices"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A ZoneKind is the effect of a zone on units that enter.
type ZoneKind uint8

// The kinds of zones.
const (
	Teleport ZoneKind = iota // takes the unit to another zone, if it was sent here
	Shrine                   // heals the unit, then needs time to recover
	Hoard                    // gives crystals to the unit's owner, then needs a long time to recover

	zoneKinds
)

var zoneNames = [zoneKinds]string{"teleport", "shrine", "hoard"}

func (k ZoneKind) String() string {
	if k >= zoneKinds {
		return "nothing"
	}
	return zoneNames[k]
}

// A Zone is a circle on the map that acts on each unit that enters it.
type Zone struct {
	Pos    fixed.Vec2
	Radius fixed.Q
	Ready  uint32 // first tick at which it acts
	Kind   ZoneKind
	Exit   uint8 // of a teleport: index of the zone that it leads to
}

// subscribers are the effects by kind of zone. They get the index of the zone and that of the unit.
var subscribers = [zoneKinds]func(w *World, zone, unit int){
	Teleport: (*World).teleport,
	Shrine:   (*World).heal,
	Hoard:    (*World).reward,
}

// enter finds units that have entered a zone, and calls the subscribers: zone by zone, unit by unit.
func (w *World) enter() {
	s := &w.workspace
	for i := range w.Units {
		if u := &w.Units[i]; u.Zone != 0 && (int(u.Zone) > len(w.Zones) || !w.Zones[u.Zone-1].holds(u)) {
			u.Zone = 0
		}
	}
	for z := range w.Zones {
		zone := &w.Zones[z]
		if z >= 255 {
			break // Unit.Zone has room for 255
		}
		entered := s.selected[:0]
		for b := s.grid.Around(zone.Pos, zone.Radius+fixed.One); b.Next(); {
			for _, i := range b.IDs() {
				u := &w.Units[i]
				if u.Zone == 0 && u.Health > 0 && !u.Kind.Building() && zone.holds(u) {
					entered = append(entered, int32(i))
				}
			}
		}
		slices.Sort(entered)
		s.selected = entered
		for _, i := range entered {
			u := &w.Units[i]
			u.Zone = uint8(z + 1)
			if zone.Ready <= w.Match.Tick && zone.Kind < zoneKinds {
				lockstep.Emit(s.turn, Entered{Unit: u.ID, Zone: uint8(z), Kind: zone.Kind})
				subscribers[zone.Kind](w, z, int(i))
			}
		}
	}
}

func (z *Zone) holds(u *Unit) bool { return distance2(z.Pos, u.Pos) <= square(z.Radius) }

// teleport moves a unit that was sent there to the exit zone, which does not act on it. Other units pass.
func (w *World) teleport(zone, unit int) {
	exit := int(w.Zones[zone].Exit)
	u := &w.Units[unit]
	if exit >= len(w.Zones) || exit == zone || !u.Goal.InRange(w.Zones[zone].Pos, w.Zones[zone].Radius) {
		return
	}
	offset := u.Pos.Sub(w.Zones[zone].Pos)
	if to := w.Zones[exit].Pos.Sub(offset); w.workspace.ground.Free(to) { // out on the far side
		u.Pos = to
	} else {
		u.Pos = w.Zones[exit].Pos
	}
	u.Zone = uint8(exit + 1)
	w.rest(u)
}

// heal restores half of the unit's full health.
func (w *World) heal(zone, unit int) {
	u := &w.Units[unit]
	full := u.Kind.Traits().Health
	if u.Health >= full {
		return
	}
	u.Health = min(u.Health+full/2, full)
	w.Zones[zone].Ready = w.Match.Tick + 60
}

// reward gives a random number of crystals to the unit's owner.
func (w *World) reward(zone, unit int) {
	w.player(w.Units[unit].Owner).Crystals += 40 + w.Rand.N(81)
	w.Zones[zone].Ready = w.Match.Tick + 1200
}
