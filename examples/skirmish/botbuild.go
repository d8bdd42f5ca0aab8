package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// These are the ideas of a bot about its economy in a match that begins small.

// saving reports whether the bot saves for another base: the fields of its bases cannot employ more workers for long.
func (b *Bot) saving(w *World) bool {
	v := &b.view
	return len(v.bases) < b.style.bases && len(v.barracks) > 0 && v.army >= b.style.guard*len(v.bases) && v.threat < 0 &&
		(v.workers >= b.style.workers*len(v.bases) || b.reserves(w) < 2000*len(v.bases))
}

// reserves returns how many crystals are left near the bot's bases.
func (b *Bot) reserves(w *World) (amount int) {
	for i := range w.Crystals {
		if b.baseNear(w, w.Crystals[i].Pos) {
			amount += int(w.Crystals[i].Amount)
		}
	}
	return amount
}

func (b *Bot) baseNear(w *World, at fixed.Vec2) bool { return w.anyWithin(b.view.bases, at, 10) }

// recruit trains workers up to the number that the bases employ, and then an army.
func (b *Bot) recruit(w *World) bool {
	v, p := &b.view, &w.Players[b.player]
	if p.Units >= w.Config.Cap {
		return false
	}
	wanted := min(b.style.workers*len(v.bases), b.style.most)
	if len(v.barracks) == 0 && v.workers >= b.style.first || v.threat >= 0 && v.army < b.plan.rivals {
		wanted = 0 // the barracks or the army come first
	}
	for _, i := range v.bases {
		if u := &w.Units[i]; u.Built && uint32(u.Queue) <= b.style.refill && v.workers+v.hatching < wanted {
			if n := min(p.Crystals/Worker.Traits().Cost, b.style.batch, uint32(wanted-v.workers-v.hatching)); n > 0 {
				return b.train(u, Worker, n)
			}
		}
	}
	purse := p.Crystals
	if b.saving(w) {
		purse -= min(purse, Base.Traits().Cost)
	}
	for _, i := range v.barracks {
		u := &w.Units[i]
		if !u.Built || uint32(u.Queue) > b.style.refill {
			continue
		}
		kind := Soldier
		switch {
		case u.Queue > 0:
			kind = u.Making
		case b.rand.N(10) < b.style.archers:
			kind = Archer
		}
		if n := min(purse/kind.Traits().Cost, b.style.batch); n > 0 {
			return b.train(u, kind, n)
		}
	}
	return false
}

// expand builds what is missing: a base, barracks, a base at another field, a tower.
func (b *Bot) expand(w *World) bool {
	v, p := &b.view, &w.Players[b.player]
	if v.sites >= b.style.sites || v.workers < 2 {
		return false
	}
	has := func(kind UnitKind) bool { return p.Crystals >= kind.Traits().Cost }
	switch {
	case len(v.bases) == 0:
		return has(Base) && b.construct(w, Base, v.home, 8)
	case len(v.barracks) == 0:
		return v.workers >= b.style.first && has(Barracks) && b.construct(w, Barracks, b.pick(w, v.bases), 9)
	case len(v.barracks) < b.style.core:
		return has(Barracks) && b.construct(w, Barracks, b.pick(w, v.bases), 9)
	case b.saving(w) && (p.Crystals < 1000 || b.style.sites == 1):
		return has(Base) && b.colonize(w)
	case len(v.barracks) < b.style.barracks*len(v.bases) && p.Crystals > 350:
		return b.construct(w, Barracks, b.pick(w, v.bases), 9)
	case v.towers < b.style.towers*len(v.bases) && p.Crystals > 300:
		return b.construct(w, Tower, b.pick(w, v.bases), 7)
	}
	return false
}

// colonize builds a base at the nearest known field without one, not near a known enemy building.
func (b *Bot) colonize(w *World) bool {
	best, nearest := -1, fixed.MaxQ
	for i := range w.Crystals {
		c := &w.Crystals[i]
		d := distance2(c.Pos, b.view.home)
		if c.Amount < 300 || d >= nearest || !w.Knows(w.Players[b.player].Team, c.Pos) || b.baseNear(w, c.Pos) {
			continue
		}
		if t := b.nearestTarget(w, c.Pos); t >= 0 && distance2(w.Units[t].Pos, c.Pos) < square(20*fixed.One) {
			continue
		}
		best, nearest = i, d
	}
	if best < 0 {
		return b.prospect(w)
	}
	return b.construct(w, Base, w.Crystals[best].Pos, 6)
}

// prospect sends a unit to an unexplored place around the bot's first base, where there may be crystals.
func (b *Bot) prospect(w *World) bool {
	p, v := &b.plan, &b.view
	if v.army == 0 || w.Match.Tick < p.scouted+prospects {
		return false
	}
	team := w.Players[b.player].Team
	for range 12 {
		if at := b.near(w, v.home, int64(w.Map.Size/2)); !w.Knows(team, at) {
			p.scouted, b.explorer = w.Match.Tick, w.Units[v.fighters[0]].ID
			return b.moveTo(b.only(b.explorer), at)
		}
	}
	return false
}

// migrate sends workers from poor crystals to a rich one near a base.
func (b *Bot) migrate(w *World) bool {
	if len(b.view.bases) < 2 {
		return false
	}
	rich := -1
	for i := range w.Crystals {
		if c := &w.Crystals[i]; c.Amount > 400 && b.baseNear(w, c.Pos) && (rich < 0 || c.Amount > w.Crystals[rich].Amount) {
			rich = i
		}
	}
	if rich < 0 {
		return false
	}
	b.command.members = b.command.members[:0]
	for i := range w.Units {
		u := &w.Units[i]
		if u.Owner != b.player || u.Kind != Worker || u.Task != Gathering || u.Cargo > 0 || len(b.command.members) == 8 {
			continue
		}
		if c := w.crystal(u); c != nil && c.Amount < 60 {
			b.command.members = append(b.command.members, u.ID)
		}
	}
	if len(b.command.members) < 4 {
		return false
	}
	b.command.gather = Gather{Who: Who{Units: b.command.members}, Crystal: uint16(rich)}
	return b.give(KindGather, &b.command.gather)
}
