package skirmish

import (
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
	Spawn                    // belongs to a player with a unit in it, whose team's new units can appear there

	zoneKinds
)

var zoneNames = [zoneKinds]string{"teleport", "shrine", "hoard", "spawn zone"}

func (k ZoneKind) String() string {
	if k >= zoneKinds {
		return "nothing"
	}
	return zoneNames[k]
}

// A Zone is a circle on the map that acts on each unit that enters or leaves it.
type Zone struct {
	Pos    fixed.Vec2
	Radius fixed.Q
	Ready  uint32 // first tick at which it acts on units that enter
	Kind   ZoneKind
	Exit   uint8 // of a teleport: index of the zone that it leads to
	Holder uint8 // of a spawn zone: 1 + player to whom it belongs, or 0
}

func (z *Zone) holds(u *Unit) bool { return distance2(z.Pos, u.Pos) <= square(z.Radius) }

// leads reports whether a unit was sent into the zone.
func (z *Zone) leads(u *Unit) bool { return u.Goal.InRange(z.Pos, z.Radius) }

const (
	teleportTicks = 5    // until a teleport takes the next unit
	shrineTicks   = 60   // until a shrine heals again
	hoardTicks    = 1200 // until a hoard pays again
)

// teleport moves a unit that was sent there to the exit zone, which does not act on it. Other units pass. The next unit
// waits until the teleport has recovered.
func (w *World) teleport(zone, unit int) {
	exit := int(w.Zones[zone].Exit)
	u := &w.Units[unit]
	if exit >= len(w.Zones) || exit == zone || !w.Zones[zone].leads(u) {
		return
	}
	offset := u.Pos.Sub(w.Zones[zone].Pos)
	if to := w.Zones[exit].Pos.Sub(offset); w.workspace.ground.Free(to) { // out on the far side
		u.Pos = to
	} else {
		u.Pos = w.Zones[exit].Pos
	}
	u.Zone = uint8(exit + 1)
	w.Zones[zone].Ready = w.Match.Tick + teleportTicks
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
	w.Zones[zone].Ready = w.Match.Tick + shrineTicks
}

// reward gives a random number of crystals to the unit's owner.
func (w *World) reward(zone, unit int) {
	w.player(w.Units[unit].Owner).Crystals += 40 + w.Rand.N(81)
	w.Zones[zone].Ready = w.Match.Tick + hoardTicks
}

// carryOff lets a worker without a load take one along.
func (w *World) carryOff(_, unit int) {
	if u := &w.Units[unit]; u.Kind == Worker && u.Cargo == 0 {
		u.Cargo = load
	}
}

// claim gives a spawn zone that belongs to nobody to the unit's owner.
func (w *World) claim(zone, unit int) {
	if w.Zones[zone].Holder == 0 {
		w.hold(zone, w.Units[unit].Owner+1)
	}
}

// yield takes a spawn zone from its holder when the last of the holder's units has left it. It then belongs to the owner
// of the oldest unit there.
func (w *World) yield(zone, unit int) {
	s, z := &w.workspace, &w.Zones[zone]
	if w.Units[unit].Owner+1 != z.Holder {
		return
	}
	oldest := int32(-1)
	for b := s.grid.Around(z.Pos, z.Radius+fixed.One); b.Next(); {
		for _, i := range b.IDs() {
			u := &w.Units[i]
			if int(u.Zone) != zone+1 || u.Health == 0 {
				continue
			}
			if u.Owner+1 == z.Holder {
				return
			}
			if oldest < 0 || int32(i) < oldest {
				oldest = int32(i)
			}
		}
	}
	if oldest < 0 {
		w.hold(zone, 0)
	} else {
		w.hold(zone, w.Units[oldest].Owner+1)
	}
}

// hold sets the holder of a spawn zone: 1 + player, or 0.
func (w *World) hold(zone int, holder uint8) {
	w.Zones[zone].Holder = holder
	lockstep.Emit(w.workspace.turn, Claimed{Zone: uint8(zone), Holder: holder})
}

// musterAt returns the spawn zone around a building's rally point if it belongs to the building's team, or else nil.
func (w *World) musterAt(u *Unit) *Zone {
	for z := range w.Zones {
		zone := &w.Zones[z]
		if zone.Kind == Spawn && zone.Holder != 0 && int(zone.Holder) <= len(w.Players) && zone.leads(u) &&
			w.Players[zone.Holder-1].Team == u.Team && w.workspace.ground.Free(zone.Pos) {
			return zone
		}
	}
	return nil
}
