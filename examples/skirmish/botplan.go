package skirmish

import "github.com/seed-49bee653/samestep/fixed"

const (
	largeArmy  = 24    // at the start: the match begins with armies
	largest    = 36    // units for which an attack waits, at most
	prospects  = 200   // ticks between two searches for crystals, at least
	memory     = 60    // ticks until a bot forgets one unit of an army that it does not see
	finale     = 18000 // tick from which no attack turns back
	surrenders = 24000 // tick from which a bot without an army gives up
)

func (p *plan) begin(w *World, v *view, s *style) {
	*p = plan{begun: w.Match.Tick, small: v.army < largeArmy, wave: s.wave, since: w.Match.Tick, scouted: w.Match.Tick}
}

// sizeUp remembers the largest enemy army that the bot has seen at one time, and forgets it unit by unit.
func (p *plan) sizeUp(w *World, v *view) {
	n := 0
	for _, i := range v.foes {
		if !w.Units[i].Kind.Building() {
			n++
		}
	}
	if forgotten := int((w.Match.Tick - p.sized) / memory); n >= p.rivals-forgotten {
		p.rivals, p.sized = n, w.Match.Tick
	}
}

// listed returns a Who of the army's units for which chosen is true, at most MaxListed.
func (b *Bot) listed(w *World, chosen func(*Unit) bool) Who {
	b.command.members = b.command.members[:0]
	for _, i := range b.view.fighters {
		if u := &w.Units[i]; len(b.command.members) < MaxListed && chosen(u) {
			b.command.members = append(b.command.members, u.ID)
		}
	}
	return Who{Units: b.command.members}
}

// beaten reports whether there is no hope left in a match that began small: no army, late in the match, or before that no base
// and no crystals for one.
func (b *Bot) beaten(w *World) bool {
	p, v, tick := &b.plan, &b.view, w.Match.Tick
	if !p.small || v.army > 2 {
		return false
	}
	return tick > surrenders || tick > surrenders/2 && len(v.bases) == 0 && w.Players[b.player].Crystals < Base.Traits().Cost
}

// protect sends those units of the army to an enemy near a building who are not far away.
func (b *Bot) protect(w *World) bool {
	v := &b.view
	if v.threat < 0 || v.army == 0 || b.alarm != 0 && w.Match.Tick < b.alarm+alarmTicks/2 {
		return false
	}
	at := w.Units[v.threat].Pos
	who := b.listed(w, func(u *Unit) bool {
		d := distance2(u.Pos, at)
		return u.Target == 0 && d > square(5*fixed.One) && (!b.plan.out || d < square(30*fixed.One))
	})
	if len(who.Units) == 0 {
		return false
	}
	b.alarm = w.Match.Tick
	return b.attackTo(who, at)
}

// force returns the value of an own army or of visible enemies within some cells of a place. Two soldiers are worth four.
func (b *Bot) force(w *World, list []int32, at fixed.Vec2, cells fixed.Q) (value int) {
	for _, i := range list {
		u := &w.Units[i]
		if distance2(u.Pos, at) > square(cells*fixed.One) {
			continue
		}
		switch u.Kind {
		case Tower:
			value += 7
		case Base:
			value += 5
		default:
			value += 2
		}
	}
	return value
}

// front returns the army unit that is farthest from home.
func (b *Bot) front(w *World) fixed.Vec2 {
	at, far := b.view.home, fixed.Q(0)
	for _, i := range b.view.fighters {
		if d := distance2(w.Units[i].Pos, b.view.home); d > far && w.Units[i].ID != b.explorer {
			at, far = w.Units[i].Pos, d
		}
	}
	return at
}

// flee ends an attack against a stronger enemy.
func (b *Bot) flee(w *World) bool {
	p, v := &b.plan, &b.view
	if !p.out || b.style.retreat == 0 || w.Match.Tick > finale {
		return false
	}
	at := b.front(w)
	ours, theirs := b.force(w, v.fighters, at, 12), b.force(w, v.foes, at, 10)
	if theirs*100 <= ours*b.style.retreat || distance2(at, v.home) < square(16*fixed.One) {
		return false
	}
	p.out, p.since, p.wave = false, w.Match.Tick, min(p.wave+b.style.growth, largest)
	return b.moveTo(b.listed(w, func(*Unit) bool { return true }), b.muster(w))
}

// muster returns the place where the army waits: before the base, towards the middle of the map.
func (b *Bot) muster(w *World) fixed.Vec2 {
	way := w.Map.middle().Sub(b.view.home)
	return b.view.home.Add(way.Normalize().Scale(7 * fixed.One))
}

// advance begins an attack when the army is large enough, and leads it on from place to place.
func (b *Bot) advance(w *World) bool {
	p, v, tick := &b.plan, &b.view, w.Match.Tick
	switch {
	case v.army == 0:
		p.out = false
		return false
	case !p.out && b.style.odds*p.rivals > 100*v.army && tick < finale:
		return false
	case !p.out && v.army < max(b.style.least, p.wave-int((tick-p.since)/b.style.patience)):
		return false
	case !p.out:
		p.out, p.since = true, tick
		p.wave = min(p.wave+b.style.growth, largest)
	case tick < p.ordered+60:
		return false
	case v.army < 3: // the attack has failed
		p.out, p.since = false, tick
		return false
	}
	at := b.front(w)
	waits := b.listed(w, func(u *Unit) bool { return u.Task == Idle && u.Target == 0 && u.ID != b.explorer })
	if p.since != tick && len(waits.Units)*2 < v.army && tick < p.ordered+underWay {
		return false
	}
	p.ordered = tick
	if target := b.nearestTarget(w, at); target >= 0 {
		far := func(u *Unit) bool { return distance2(u.Pos, at) > square(20*fixed.One) }
		late := len(b.listed(w, far).Units) // they follow together, not one by one
		if who := b.listed(w, func(u *Unit) bool { return u.Target == 0 && (late >= 5 || !far(u)) }); len(who.Units) > 0 {
			return b.attackTo(who, w.Units[target].Pos)
		}
		return false
	}
	if len(waits.Units) == 0 {
		return false
	}
	waits.Units = waits.Units[:max(1, len(waits.Units)/3)] // they search in parts
	return b.attackTo(waits, b.unseen(w))
}

// nearestTarget returns the index of the known enemy building that is nearest to a place, or -1.
func (b *Bot) nearestTarget(w *World, at fixed.Vec2) int32 {
	best, nearest := int32(-1), fixed.MaxQ
	for _, i := range b.view.targets {
		if d := distance2(w.Units[i].Pos, at); d < nearest {
			best, nearest = i, d
		}
	}
	return best
}

// rally lets new units of a barracks wait with the army.
func (b *Bot) rally(w *World) bool {
	for _, i := range b.view.barracks {
		if u := &w.Units[i]; u.Built && u.ID > b.plan.rallied {
			b.plan.rallied = u.ID
			return b.moveTo(b.only(u.ID), b.muster(w))
		}
	}
	return false
}

// explore sends a unit to an unexplored place from time to time, until an enemy building is known.
func (b *Bot) explore(w *World) bool {
	p, v := &b.plan, &b.view
	if len(v.targets) > 0 && w.Match.Tick < p.scouted+3000 || w.Match.Tick < p.scouted+300 || v.army == 0 {
		return false
	}
	if i := w.find(b.explorer); i >= 0 && w.Units[i].Task != Idle {
		return false
	}
	p.scouted, b.explorer = w.Match.Tick, w.Units[v.fighters[0]].ID
	return b.moveTo(b.only(b.explorer), b.unseen(w))
}
