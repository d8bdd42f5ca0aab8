package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	leash    = 9 * fixed.One // how far an idle unit pursues an enemy
	lookout  = 8             // ticks between two searches for enemies
	bystands = 1 << 40       // added to the squared distance of an enemy that does not fight
	widest   = 2 * fixed.One // radius of a unit
)

// act lets one unit work on its task.
func (w *World) act(i int) {
	u := &w.Units[i]
	if u.Cooldown > 0 {
		u.Cooldown--
	}
	if u.Kind.Building() {
		w.clear(i)
		w.produce(i)
		if u.fights() {
			w.engage(i)
		}
		return
	}
	switch u.Task {
	case Moving:
		w.travel(i)
	case Attacking:
		w.hunt(i)
	case AttackMoving, Patrolling:
		if !w.engage(i) {
			w.travel(i)
		}
	case Gathering:
		w.gather(i)
	case Constructing:
		w.construct(i)
	case Holding:
		if u.fights() {
			w.engage(i)
		}
	default:
		w.guard(i)
	}
}

// guard lets an idle unit fight enemies that come near, and return to its place.
func (w *World) guard(i int) {
	u := &w.Units[i]
	switch {
	case u.fights() && w.engage(i):
		u.Phase = phaseHome
	case u.Phase == phaseHome:
		if w.walk(i, u.Home) {
			u.Phase, u.Stuck = phaseOut, 0
		}
	default:
		w.push(i)
	}
}

// travel moves a unit towards the goal of its task.
func (w *World) travel(i int) {
	u := &w.Units[i]
	to, ready := w.waypoint(i)
	if !ready {
		w.push(i)
		return
	}
	arrived := w.walk(i, to)
	switch {
	case u.Pos != u.Goal && !(arrived && u.Stuck >= patience):
	case u.Task == Patrolling && u.Next == Idle:
		u.Stuck = 0
		w.send(u, Patrolling, u.Home, w.workspace.ground.At(u.Home))
	default:
		w.rest(u)
	}
}

// engage fights the nearest enemy in sight, and reports whether there is one.
func (w *World) engage(i int) bool {
	u := &w.Units[i]
	if u.seeks(w.Match.Tick) {
		if v := &w.workspace.surveys[i]; v.sought {
			u.Target = v.prey
		} else { // a building that was completed in this tick
			u.Target = w.acquire(i)
		}
	}
	if u.Target == 0 {
		return false
	}
	j := w.find(u.Target)
	if j < 0 || w.workspace.seen[j].team == u.Team || w.beyond(i, j) {
		u.Target = 0
		return false
	}
	if w.inReach(i, j) {
		w.hit(i, j)
		if !u.stays() {
			w.push(i)
		}
		return true
	}
	if u.stays() || w.walk(i, w.workspace.seen[j].at) && u.Stuck >= patience {
		u.Target, u.Stuck = 0, 0
		return false
	}
	return true
}

// beyond reports whether the target j is too far away for unit i.
func (w *World) beyond(i, j int) bool {
	u, here, there := &w.Units[i], w.workspace.seen[i].at, w.workspace.seen[j].at
	sight := fixed.Q(u.Kind.Traits().Sight+3) * fixed.One
	return distance2(here, there) > square(sight) ||
		u.Task == Idle && distance2(u.Home, there) > square(leash)
}

// inReach reports whether unit i can hit unit j from its place.
func (w *World) inReach(i, j int) bool {
	a, b := &w.workspace.seen[i], &w.workspace.seen[j]
	return distance2(a.at, b.at) <= square(a.kind.Traits().Range+a.kind.Traits().Radius+b.kind.Traits().Radius)
}

// acquire returns the enemy that unit i should fight: the nearest one that it can reach, enemies that fight first.
func (w *World) acquire(i int) UnitID {
	u, s := &w.Units[i], &w.workspace
	sight := fixed.Q(u.Kind.Traits().Sight) * fixed.One
	if u.Task == Holding {
		sight = min(sight, u.Kind.Traits().Range+u.Kind.Traits().Radius+widest)
	}
	best := w.nearestEnemy(i, min(sight, 3*fixed.One))
	if best < 0 {
		best = w.nearestEnemy(i, sight)
	}
	if best < 0 || !w.inReach(i, best) && (u.stays() || !s.ground.sees(s.seen[i].at, s.seen[best].at)) {
		return 0
	}
	return w.Units[best].ID
}

// nearestEnemy returns the index of the nearest enemy within a radius, or -1. Enemies that do not fight come last.
func (w *World) nearestEnemy(i int, radius fixed.Q) int {
	s, team, here := &w.workspace, w.Units[i].Team, w.workspace.seen[i].at
	best, nearest := -1, fixed.MaxQ
	reach := square(radius)
	for b := s.grid.Around(here, radius); b.Next(); {
		for _, j := range b.IDs() {
			v := &s.seen[j]
			if v.team == team {
				continue
			}
			d := distance2(here, v.at)
			if d > reach {
				continue
			}
			if !v.fights {
				d += bystands
			}
			if d < nearest || d == nearest && int(j) < best {
				best, nearest = int(j), d
			}
		}
	}
	return best
}

// hunt pursues the target of an attack order.
func (w *World) hunt(i int) {
	u := &w.Units[i]
	j := w.find(u.Target)
	if j < 0 || w.Units[j].Team == u.Team {
		w.rest(u)
		return
	}
	if w.inReach(i, j) {
		w.hit(i, j)
		w.push(i)
		return
	}
	if (w.Match.Tick+uint32(u.Target))%16 == 0 { // all its hunters update in the same tick, and share a flow field
		u.Goal = w.workspace.seen[j].at
		if via := w.workspace.ground.At(u.Goal); via != u.Via {
			u.Via, u.Slot = via, fieldless
		}
	}
	if to, ready := w.waypoint(i); !ready {
		w.push(i)
	} else if w.walk(i, to) && u.Stuck >= patience {
		w.rest(u)
	}
}

// hit lets unit i hit unit j if its cooldown is over.
func (w *World) hit(i, j int) {
	u := &w.Units[i]
	u.Stuck = 0
	if u.Cooldown > 0 {
		return
	}
	t := u.Kind.Traits()
	u.Cooldown = t.Cooldown
	w.workspace.turn.Drew("damage", uint32(u.ID))
	damage := uint32(t.Damage) + fixed.DrawN(w.Match.Seed, uint32(u.ID), w.Match.Tick, purposeDamage, 0, uint32(t.Damage)/4+1)
	armor := uint32(w.workspace.seen[j].kind.Traits().Armor)
	damage = max(damage, armor+1) - armor
	w.workspace.damage[j] += damage
	w.workspace.killer[j] = int32(i)
	lockstep.Emit(w.workspace.turn, Shot{By: u.ID, At: u.Target, Damage: damage})
}

// strike applies the damage of the tick to all units at once.
func (w *World) strike() {
	for i, damage := range w.workspace.damage {
		if damage == 0 {
			continue
		}
		u := &w.Units[i]
		u.Health -= uint16(min(damage, uint32(u.Health)))
		if u.Health > 0 {
			w.answer(i)
			continue
		}
		by := &w.Units[w.workspace.killer[i]]
		by.Kills++
		w.player(by.Owner).Kills++
		w.player(u.Owner).Losses++
		lockstep.Emit(w.workspace.turn, Death{Unit: u.ID, Kind: u.Kind, Owner: u.Owner, By: by.ID, At: u.Pos})
	}
}

// answer lets a unit without a target fight back.
func (w *World) answer(i int) {
	u := &w.Units[i]
	if u.fights() && u.Target == 0 && (u.Task == Idle || u.Task == AttackMoving || u.Task == Patrolling) {
		u.Target = w.Units[w.workspace.killer[i]].ID
	}
}

// bury removes dead units; the others keep their order.
func (w *World) bury() {
	alive := 0
	for i := range w.Units {
		u := &w.Units[i]
		if u.Health == 0 {
			p := w.player(u.Owner)
			p.Units--
			if u.Kind.Building() {
				p.Buildings--
			}
			continue
		}
		if alive != i {
			w.Units[alive] = *u
		}
		alive++
	}
	w.Units = w.Units[:alive]
}
