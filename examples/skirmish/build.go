package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// fits reports whether a building fits at a place: on open ground, away from other buildings and crystals.
func (w *World) fits(kind UnitKind, at fixed.Vec2) bool {
	radius := kind.Traits().Radius
	g := &w.workspace.ground
	for y := at.Y - radius; y <= at.Y+radius; y += fixed.Half {
		for x := at.X - radius; x <= at.X+radius; x += fixed.Half {
			if !g.Free(fixed.Vec2{X: x, Y: y}) {
				return false
			}
		}
	}
	for i := range w.Crystals {
		if w.Crystals[i].Pos.InRange(at, radius+2*fixed.One) {
			return false
		}
	}
	for _, i := range w.workspace.buildings {
		b := &w.Units[i]
		if b.Pos.InRange(at, radius+b.Kind.Traits().Radius+fixed.One/2) {
			return false
		}
	}
	return true
}

// construct moves a worker to the site, lays out the building, and works on it until it is complete.
func (w *World) construct(i int) {
	u := &w.Units[i]
	reach := square(u.Making.Traits().Radius + fixed.One)
	if u.Phase == phaseWork {
		w.work(u)
		w.push(i)
		return
	}
	if distance2(u.Pos, u.Goal) > reach {
		w.advance(i)
		return
	}
	if site := w.siteAt(u); site != 0 || w.layOut(u) {
		u.Phase = phaseWork
		if site != 0 {
			u.Target = site
		}
		return
	}
	w.rest(u)
}

// siteAt returns the owner's unfinished building at the unit's goal, or 0.
func (w *World) siteAt(u *Unit) UnitID {
	for _, i := range w.workspace.buildings {
		if b := &w.Units[i]; b.Pos == u.Goal && b.Owner == u.Owner && !b.Built {
			return b.ID
		}
	}
	for i := range w.workspace.births { // laid out in this tick
		if b := &w.workspace.births[i]; b.Pos == u.Goal && b.Owner == u.Owner && b.Kind.Building() {
			return b.ID
		}
	}
	return 0
}

// layOut pays for a building and puts its site on the map.
func (w *World) layOut(u *Unit) bool {
	p, t := w.player(u.Owner), u.Making.Traits()
	if !u.Making.Building() || p.Crystals < t.Cost || p.Units >= w.Config.Cap || !w.fits(u.Making, u.Goal) {
		return false
	}
	for i := range w.workspace.births { // sites laid out in this tick
		b := &w.workspace.births[i]
		if b.Kind.Building() && b.Pos.InRange(u.Goal, t.Radius+b.Kind.Traits().Radius+fixed.One/2) {
			return false
		}
	}
	id := w.spawn(Unit{Pos: u.Goal, Goal: u.Goal, Kind: u.Making, Owner: u.Owner, Health: t.Health / 10, Work: t.Ticks})
	if id == 0 {
		return false
	}
	p.Crystals -= t.Cost
	u.Target = id
	return true
}

// work does one tick of work, which also increases the building's health.
func (w *World) work(u *Unit) {
	j := w.find(u.Target)
	if j < 0 || w.Units[j].Built {
		w.rest(u)
		return
	}
	b := &w.Units[j]
	t := b.Kind.Traits()
	if b.Work > 0 {
		share, ticks := uint32(t.Health-t.Health/10), max(uint32(t.Ticks), 1)
		done := ticks - min(uint32(b.Work), ticks)
		b.Health += uint16(share*(done+1)/ticks - share*done/ticks)
		b.Work--
	}
	if b.Work == 0 {
		b.Built = true
		if b.Kind == Base { // new workers begin at the nearest crystal
			b.Source = w.crystalAt(b.Pos, 0)
		}
		lockstep.Emit(w.workspace.turn, BuildingDone{Unit: b.ID, Kind: b.Kind, Owner: b.Owner, At: b.Pos})
		w.rest(u)
	}
}
