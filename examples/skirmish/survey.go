package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A survey is what one unit sees around it at the start of a tick. Units make theirs on several processors, before the first one acts.
type survey struct {
	prey   UnitID // the enemy to fight, if sought
	sought bool
	looked bool // from a place to a goal, whether the straight way is open
	direct bool
	from   fixed.Vec2
	to     fixed.Vec2
	shove  fixed.Vec2 // away from units that are too close; of a unit that moves
}

// surveyAll makes the surveys of all units.
func surveyAll(w *World, t *lockstep.Turn) {
	s := &w.workspace
	s.surveys = resize(s.surveys, len(w.Units))
	s.surveyFor(w)
	t.Each(len(w.Units), s.survey)
}

// surveyFor makes the function that surveys w. A new one in each tick would be memory.
func (s *workspace) surveyFor(w *World) {
	if s.surveyor != w {
		s.surveyor, s.survey = w, func(i int, own *lockstep.Turn) { s.surveys[i].take(w, i, own) }
	}
}

// take makes the survey of unit i.
func (v *survey) take(w *World, i int, own *lockstep.Turn) {
	u := &w.Units[i]
	*v = survey{}
	if v.sought = u.seeks(w.Match.Tick) && u.alert(); v.sought {
		v.prey = w.acquire(i)
	}
	if u.Kind.Building() {
		return
	}
	v.press(w, i, own)
	if v.looked = v.prey == 0 && u.walks() && u.looksAhead(w.Match.Tick); v.looked {
		v.from, v.to = u.Pos, u.Goal
		v.direct = w.workspace.ground.sees(u.Pos, u.Goal)
	}
}

// alert reports whether the unit fights enemies that it sees, see act.
func (u *Unit) alert() bool {
	switch u.Task {
	case Moving, Attacking, Gathering, Constructing:
		return u.Kind.Building() && u.fights()
	case AttackMoving, Patrolling:
		return !u.Kind.Building() || u.fights()
	}
	return u.fights()
}

// walks reports whether the unit is on its way to its goal.
func (u *Unit) walks() bool {
	switch u.Task {
	case Moving, Attacking:
		return true
	case AttackMoving, Patrolling:
		return u.Target == 0
	case Gathering, Constructing:
		return u.Phase != phaseWork
	}
	return false
}

// seeks reports whether the unit looks for an enemy at a tick.
func (u *Unit) seeks(tick uint32) bool { return u.Target == 0 && u.looks(tick) }

// looksAhead reports whether the unit looks along its way at a tick.
func (u *Unit) looksAhead(tick uint32) bool { return u.Slot == freshSlot || u.looks(tick) }

func (u *Unit) looks(tick uint32) bool { return (tick+uint32(u.ID))%lookout == 0 }

// press sets by how much units that are too close push unit i. It uses the positions at the start of the tick, so both units of a pair move
// by the same distance.
func (v *survey) press(w *World, i int, t *lockstep.Turn) {
	s := &w.workspace
	here := s.seen[i].at
	by := fixed.Vec2{}
	for b := s.grid.Around(here, closest); b.Next(); {
		for _, j := range b.IDs() {
			there := &s.seen[j].at
			d := fixed.Vec2{X: (here.X - there.X) / (1 << 16), Y: (here.Y - there.Y) / (1 << 16)}
			overlap := square(closest) - (d.X*d.X + d.Y*d.Y)
			if overlap <= 0 || int(j) == i {
				continue
			}
			if d == (fixed.Vec2{}) { // on the same spot
				d = w.scatter(t, w.Units[i].ID, w.Units[j].ID)
			}
			overlap /= 1 << 16
			by.X += d.X * overlap / 2
			by.Y += d.Y * overlap / 2
		}
	}
	v.shove = fixed.Vec2{X: fixed.Clamp(by.X, -shove, shove), Y: fixed.Clamp(by.Y, -shove, shove)}
}

// ahead reports whether the straight way from the unit to its goal is open.
func (v *survey) ahead(w *World, u *Unit) bool {
	if v.looked && v.from == u.Pos && v.to == u.Goal {
		return v.direct
	}
	return w.workspace.ground.sees(u.Pos, u.Goal) // it was pushed, or has another goal since
}
