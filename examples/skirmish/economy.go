package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	load      = 8              // crystals that a worker carries
	mineTicks = 40             // to mine a load
	growTicks = 30             // for a crystal to grow by one
	aidTicks  = 20             // between two crystals that a base gives to a poor owner
	maxQueue  = 20             // units in a building's queue
	farField  = 14 * fixed.One // the radius in which a worker looks for another crystal
)

// crystal returns the crystal that a worker gathers, or nil.
func (w *World) crystal(u *Unit) *Crystal {
	if u.Source == 0 || int(u.Source) > len(w.Crystals) {
		return nil
	}
	return &w.Crystals[u.Source-1]
}

// dispatch sends a worker to mine.
func (w *World) dispatch(u *Unit, source uint16) {
	at := w.Crystals[source-1].Pos
	w.send(u, Gathering, at, w.workspace.ground.At(at))
	u.Source, u.Target = source, 0
	if u.Cargo > 0 {
		w.bringHome(u)
	}
}

// gather lets a worker mine, carry its load home, and begin again.
func (w *World) gather(i int) {
	u := &w.Units[i]
	c := w.crystal(u)
	if c == nil {
		w.rest(u)
		return
	}
	switch u.Phase {
	case phaseWork:
		w.mine(u, c)
		w.push(i)
	case phaseHome:
		w.carry(i)
	default:
		if c.Amount == 0 && w.Sees(u.Team, c.Pos) && !w.prospect(u) {
			w.rest(u)
			return
		}
		if distance2(u.Pos, u.Goal) <= square(fixed.One) {
			u.Phase, u.Work = phaseWork, mineTicks
		} else {
			w.advance(i)
		}
	}
}

// advance moves a unit towards its goal, and ends the order if the unit is stuck.
func (w *World) advance(i int) {
	u := &w.Units[i]
	if to, ready := w.waypoint(i); !ready {
		w.push(i)
	} else if w.walk(i, to) && u.Stuck >= patience {
		w.rest(u)
	}
}

// mine does one tick of mining.
func (w *World) mine(u *Unit, c *Crystal) {
	if u.Work > 1 {
		u.Work--
		return
	}
	u.Work = 0
	if c.Amount == 0 { // other workers have emptied it
		u.Phase = phaseOut
		return
	}
	taken := min(load, c.Amount)
	c.Amount -= taken
	u.Cargo = uint8(taken)
	w.bringHome(u)
}

// bringHome sends a worker with its load to its nearest base, or ends its task if there is none.
func (w *World) bringHome(u *Unit) {
	base := w.nearestBase(u)
	if base < 0 {
		w.rest(u)
		return
	}
	source := u.Source
	at := w.Units[base].Pos
	w.send(u, Gathering, at, w.workspace.ground.At(at))
	u.Phase, u.Source, u.Target = phaseHome, source, w.Units[base].ID
}

// carry brings a load to the base and sends the worker back.
func (w *World) carry(i int) {
	u := &w.Units[i]
	base := w.find(u.Target)
	if base < 0 || w.Units[base].Kind != Base {
		w.bringHome(u)
		return
	}
	if distance2(u.Pos, u.Goal) > square(Base.Traits().Radius+fixed.One*3/4) {
		w.advance(i)
		return
	}
	p := w.player(u.Owner)
	p.Crystals += uint32(u.Cargo)
	p.Gathered += uint32(u.Cargo)
	u.Cargo = 0
	w.dispatch(u, u.Source)
}

// nearestBase returns the index of the nearest base of a unit's owner, or -1.
func (w *World) nearestBase(u *Unit) int {
	best, nearest := -1, fixed.MaxQ
	for _, i := range w.workspace.bases {
		b := &w.Units[i]
		if d := distance2(u.Pos, b.Pos); b.Owner == u.Owner && d < nearest {
			best, nearest = int(i), d
		}
	}
	return best
}

// prospect sends a worker to another near crystal that its team knows, and reports whether there is one. One out of sight may be full.
func (w *World) prospect(u *Unit) bool {
	best, nearest := -1, square(farField)
	for i := range w.Crystals {
		c := &w.Crystals[i]
		if d := distance2(u.Pos, c.Pos); d < nearest && w.Knows(u.Team, c.Pos) && (c.Amount >= load || !w.Sees(u.Team, c.Pos)) {
			best, nearest = i, d
		}
	}
	if best >= 0 {
		w.dispatch(u, uint16(best+1))
	}
	return best >= 0
}

// regrow lets the crystals grow back, a few in each tick.
func (w *World) regrow() {
	for i := int(w.Match.Tick % growTicks); i < len(w.Crystals); i += growTicks {
		if c := &w.Crystals[i]; c.Amount < c.Full {
			c.Amount++
		}
	}
}

// aid gives crystals to a player who cannot afford a worker.
func (w *World) aid(u *Unit) {
	p := w.player(u.Owner)
	if (w.Match.Tick+uint32(u.ID))%aidTicks == 0 && p.Crystals < Worker.Traits().Cost {
		p.Crystals++
	}
}

// produce works on the queue of a building.
func (w *World) produce(i int) {
	u := &w.Units[i]
	if u.Kind == Base && u.Built {
		w.aid(u)
	}
	if u.Queue == 0 || !u.Built {
		return
	}
	if u.Work > 0 {
		u.Work--
	}
	if u.Work > 0 || w.player(u.Owner).Units >= w.Config.Cap {
		return
	}
	if !w.deliver(u) {
		return
	}
	u.Queue--
	if u.Queue > 0 {
		u.Work = u.Making.Traits().Ticks
	}
}

// deliver puts a new unit next to the building and sends it to the rally point.
func (w *World) deliver(u *Unit) bool {
	way := u.Goal.Sub(u.Pos)
	if way == (fixed.Vec2{}) {
		way.Y = -fixed.One
	}
	at := u.Pos.Add(way.Normalize().Scale(u.Kind.Traits().Radius + fixed.Half))
	if !w.workspace.ground.Free(at) {
		at = u.Pos
	}
	if zone := w.musterAt(u); zone != nil {
		at = zone.Pos
	}
	born := Unit{Pos: at, Goal: at, Kind: u.Making, Owner: u.Owner, Group: u.Group, Health: u.Making.Traits().Health, Built: true}
	born.Team = u.Team
	switch {
	case u.Making == Worker && w.crystal(u) != nil:
		w.dispatch(&born, u.Source)
	case u.Goal != u.Pos:
		w.send(&born, AttackMoving, u.Goal, w.workspace.ground.nearestOpen(u.Goal))
	}
	id := w.spawn(born)
	if id != 0 {
		lockstep.Emit(w.workspace.turn, Trained{Unit: id, Kind: u.Making, Owner: u.Owner, By: u.ID})
	}
	return id != 0
}
