package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// settle adds a new barracks to a control group. Its units join the group, and orders to the group set its rally point.
func (b *Bot) settle(w *World) bool {
	for k, i := range b.view.barracks {
		u := &w.Units[i]
		if !u.Built || u.Group != noGroup {
			continue
		}
		b.command.members = append(b.command.members[:0], u.ID)
		b.command.assign = Assign{Group: uint8(1 + k%ArmyGroups), Add: true, Units: b.command.members}
		return b.give(KindAssign, &b.command.assign)
	}
	return false
}

// employ lets idle workers mine.
func (b *Bot) employ(w *World) bool {
	v := &b.view
	if len(v.idle) == 0 || len(v.idle) < 3 && b.rand.N(4) > 0 || len(v.bases) == 0 {
		return false
	}
	b.command.members = b.command.members[:0]
	for _, i := range v.idle[:min(len(v.idle), 8)] {
		b.command.members = append(b.command.members, w.Units[i].ID)
	}
	crystal := b.richest(w, w.Units[v.idle[0]].Pos)
	if crystal < 0 {
		return false
	}
	b.command.gather = Gather{Who: Who{Units: b.command.members}, Crystal: uint16(crystal)}
	return b.give(KindGather, &b.command.gather)
}

// richest returns the index of the nearest known crystal that is not nearly empty, or -1.
func (b *Bot) richest(w *World, at fixed.Vec2) int {
	best, nearest := -1, fixed.MaxQ
	for i := range w.Crystals {
		c := &w.Crystals[i]
		if d := distance2(at, c.Pos); c.Amount > 50 && d < nearest && w.Knows(w.Players[b.player].Team, c.Pos) {
			best, nearest = i, d
		}
	}
	return best
}

// raise trains units in idle buildings.
func (b *Bot) raise(w *World) bool {
	v, p := &b.view, &w.Players[b.player]
	if p.Units >= w.Config.Cap {
		return false
	}
	for _, i := range v.bases {
		if u := &w.Units[i]; u.Built && u.Queue == 0 && v.workers < 10+8*len(v.bases) {
			if n := min(p.Crystals/Worker.Traits().Cost, 4); n > 0 {
				return b.train(u, Worker, n)
			}
		}
	}
	for _, i := range v.barracks {
		u := &w.Units[i]
		if !u.Built || u.Queue > 0 {
			continue
		}
		kind := Soldier
		if b.rand.N(3) == 0 {
			kind = Archer
		}
		if n := min(p.Crystals/kind.Traits().Cost, 6); n > 2 {
			return b.train(u, kind, n)
		}
	}
	return false
}

func (b *Bot) train(u *Unit, kind UnitKind, n uint32) bool {
	b.command.train = Train{Building: u.ID, Kind: kind, Count: uint8(n)}
	return b.give(KindTrain, &b.command.train)
}

// grow builds the most important missing building: a base, barracks, towers, or a base near other crystals.
func (b *Bot) grow(w *World) bool {
	v, p := &b.view, &w.Players[b.player]
	if v.sites > 0 || v.workers < 3 {
		return false
	}
	has := func(kind UnitKind) bool { return p.Crystals >= kind.Traits().Cost }
	switch {
	case len(v.bases) == 0:
		return has(Base) && b.construct(w, Base, v.home, 8)
	case len(v.barracks) == 0 || len(v.barracks) < min(2*len(v.bases), 6) && p.Crystals > 500:
		return has(Barracks) && b.construct(w, Barracks, b.pick(w, v.bases), 12)
	case len(v.bases) < 4 && p.Crystals > 900:
		crystal := b.rand.N(uint32(len(w.Crystals)))
		at := w.Crystals[crystal].Pos
		return w.Knows(p.Team, at) && b.construct(w, Base, at, 6)
	case v.towers < 2*len(v.bases) && p.Crystals > 400:
		return b.construct(w, Tower, b.pick(w, v.bases), 9)
	}
	return false
}

func (b *Bot) pick(w *World, list []int32) fixed.Vec2 { return w.Units[fixed.Pick(&b.rand, list)].Pos }

// construct sends a worker to build at a random place that fits.
func (b *Bot) construct(w *World, kind UnitKind, around fixed.Vec2, spread int64) bool {
	for range 12 {
		at := snap(b.near(w, around, spread))
		if !w.fits(kind, at) || b.foeNear(w, at) {
			continue
		}
		worker := b.workerNear(w, at)
		if worker < 0 {
			return false
		}
		b.command.build = Build{Who: b.only(w.Units[worker].ID), Kind: kind, At: PointAt(at)}
		return b.give(KindBuild, &b.command.build)
	}
	return false
}

func (b *Bot) foeNear(w *World, at fixed.Vec2) bool { return w.anyWithin(b.view.foes, at, 12) }

// anyWithin reports whether one of some units, by index, is closer to a place than a number of cells.
func (w *World) anyWithin(units []int32, at fixed.Vec2, cells fixed.Q) bool {
	for _, i := range units {
		if distance2(w.Units[i].Pos, at) < square(cells*fixed.One) {
			return true
		}
	}
	return false
}

func (b *Bot) workerNear(w *World, at fixed.Vec2) int {
	best, nearest := -1, fixed.MaxQ
	for i := range w.Units {
		u := &w.Units[i]
		if u.Owner != b.player || u.Kind != Worker || u.Task == Constructing || u.Cargo > 0 {
			continue
		}
		if d := distance2(u.Pos, at); d < nearest {
			best, nearest = i, d
		}
	}
	return best
}
