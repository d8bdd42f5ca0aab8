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
func (w *World) surveyAll(t *lockstep.Turn) {
	s := &w.workspace
	s.surveys = resize(s.surveys, len(w.Units))
	if s.surveyor != w { // a function that is made anew each tick would be memory
		s.surveyor, s.survey = w, w.surveyOne
	}
	t.Each(len(w.Units), s.survey)
}

// surveyOne makes the survey of unit i. It writes nothing else.
func (w *World) surveyOne(i int, own *lockstep.Turn) {
	u, v := &w.Units[i], &w.workspace.surveys[i]
	*v = survey{}
	if v.sought = u.seeks(w.Match.Tick) && u.alert(); v.sought {
		v.prey = w.acquire(i)
	}
	if u.Kind.Building() {
		return
	}
	v.shove = w.pressure(i, own)
	if v.looked = v.prey == 0 && u.walks() && w.looksAhead(u); v.looked {
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

// looksAhead reports whether the unit looks along its way in this tick.
func (w *World) looksAhead(u *Unit) bool {
	return u.Slot == freshSlot || (w.Match.Tick+uint32(u.ID))%lookout == 0
}

// ahead reports whether the straight way from a unit of this tick to its goal is open.
func (w *World) ahead(i int) bool {
	u, v := &w.Units[i], &w.workspace.surveys[i]
	if v.looked && v.from == u.Pos && v.to == u.Goal {
		return v.direct
	}
	return w.workspace.ground.sees(u.Pos, u.Goal) // it was pushed, or has another goal since
}
