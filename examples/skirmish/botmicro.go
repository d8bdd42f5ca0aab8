package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// These are a bot's ideas when nothing is urgent. Each gives an order to a random control group or unit, or does
// nothing.

// idleGroup returns a random group if it is idle.
func (b *Bot) idleGroup() (uint8, *troop) {
	g := uint8(1 + b.rand.N(ArmyGroups))
	if t := &b.view.groups[g]; t.count > 0 && t.busy == 0 {
		return g, t
	}
	return 0, nil
}

// aim lets a small group in a fight attack the weakest near enemy.
func (b *Bot) aim(w *World) bool {
	g := uint8(1 + b.rand.N(ArmyGroups))
	c, t := &b.groups[g], &b.view.groups[g]
	if t.count == 0 || t.count > 12 || c.aimed+50 > w.Match.Tick {
		return false
	}
	middle, weakest := t.middle(), int32(-1)
	for _, i := range b.view.foes {
		u := &w.Units[i]
		if distance2(u.Pos, middle) < square(7*fixed.One) && (weakest < 0 || u.Health < w.Units[weakest].Health) {
			weakest = i
		}
	}
	if weakest < 0 {
		return false
	}
	c.aimed = w.Match.Tick
	b.command.attack = Attack{Who: Who{Group: g}, Target: w.Units[weakest].ID}
	return b.give(KindAttack, &b.command.attack)
}

// mend sends a badly hurt group to a shrine.
func (b *Bot) mend(w *World) bool {
	g, t := b.idleGroup()
	if g == 0 || t.health*2 > t.full || b.groups[g].ordered+200 > w.Match.Tick {
		return false
	}
	for i := range w.Zones {
		z := &w.Zones[i]
		if z.Kind == Shrine && distance2(z.Pos, t.middle()) < square(30*fixed.One) && w.Knows(w.Players[b.player].Team, z.Pos) {
			b.groups[g].ordered = w.Match.Tick
			return b.moveTo(Who{Group: g}, z.Pos)
		}
	}
	return false
}

// watch lets an idle group near the base patrol.
func (b *Bot) watch(w *World) bool {
	g, t := b.idleGroup()
	if g == 0 || len(b.view.barracks) == 0 || distance2(t.middle(), b.view.home) > square(16*fixed.One) {
		return false
	}
	b.groups[g].ordered = w.Match.Tick
	b.command.patrol = Patrol{Who: Who{Group: g}, To: PointAt(b.near(w, b.pick(w, b.view.barracks), 5))}
	return b.give(KindPatrol, &b.command.patrol)
}

// scout sends one unit to two unexplored places, one after the other.
func (b *Bot) scout(w *World) bool {
	if b.scouted {
		b.scouted = false
		if i := w.find(b.explorer); i >= 0 && w.Units[i].Owner == b.player {
			b.moveTo(b.only(b.explorer), b.unseen(w))
			b.command.move.Queued = true
			return true
		}
	}
	if b.rand.N(6) > 0 || b.view.army < 8 {
		return false
	}
	skip := b.rand.N(uint32(b.view.army))
	for i := range w.Units {
		u := &w.Units[i]
		if u.Owner != b.player || !u.fights() || u.Kind.Building() {
			continue
		}
		if skip == 0 {
			b.explorer, b.scouted = u.ID, true
			return b.moveTo(b.only(u.ID), b.unseen(w))
		}
		skip--
	}
	return false
}

// unseen returns a random open place that is unexplored, or any place if there is none.
func (b *Bot) unseen(w *World) (place fixed.Vec2) {
	team, size := w.Players[b.player].Team, int(w.Map.Size)
	for range 12 {
		if place = b.near(w, w.Map.middle(), int64(size/2)); !w.Knows(team, place) {
			return place
		}
	}
	first := int(b.rand.N(uint32(size * size)))
	for k := range size * size { // little is unexplored: look everywhere
		c := (first + k) % (size * size)
		at := fixed.Vec2{X: fixed.Q(c%size)*fixed.One + fixed.Half, Y: fixed.Q(c/size)*fixed.One + fixed.Half}
		if !w.Map.Rock(c%size, c/size) && !w.Knows(team, at) {
			return at
		}
	}
	return place
}
