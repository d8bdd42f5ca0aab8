package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// view is a bot's summary of the world. Lists have indexes of units.
type view struct {
	home     fixed.Vec2 // the oldest building
	workers  int
	hatching int // workers in the bases' queues
	idle     []int32
	bases    []int32
	barracks []int32
	towers   int
	sites    int // under construction, or about to be
	army     int
	fighters []int32 // the army
	groups   [ArmyGroups + 1]troop
	foes     []int32 // visible enemies that fight
	targets  []int32 // known enemy buildings
	threat   int32   // an enemy near an own building, or -1
}

// troop sums up a control group.
type troop struct {
	count  int
	busy   int // with an order or an enemy
	health int // sum
	full   int // sum of the full healths
	sumX   fixed.Q
	sumY   fixed.Q
}

func (t *troop) middle() fixed.Vec2 {
	n := fixed.Q(max(t.count, 1))
	return fixed.Vec2{X: t.sumX / n, Y: t.sumY / n}
}

func (v *view) look(w *World, player uint8) {
	*v = view{idle: v.idle[:0], bases: v.bases[:0], barracks: v.barracks[:0], foes: v.foes[:0], targets: v.targets[:0],
		fighters: v.fighters[:0], threat: -1}
	team := w.Players[player].Team
	for i := range w.Units {
		switch u := &w.Units[i]; {
		case u.Owner == player:
			v.own(int32(i), u)
		case u.Team == team:
		case u.Kind.Building() && w.Knows(team, u.Pos):
			v.targets = append(v.targets, int32(i))
		case u.fights() && w.Sees(team, u.Pos):
			v.foes = append(v.foes, int32(i))
		}
	}
	nearest := square(14 * fixed.One)
	for _, i := range v.foes {
		for _, list := range [][]int32{v.bases, v.barracks} {
			for _, j := range list {
				if d := distance2(w.Units[i].Pos, w.Units[j].Pos); d < nearest {
					nearest, v.threat = d, i
				}
			}
		}
	}
}

func (v *view) own(i int32, u *Unit) {
	switch {
	case u.Kind == Worker:
		v.workers++
		if u.Task == Idle {
			v.idle = append(v.idle, i)
		}
		if u.Task == Constructing {
			v.sites++
		}
	case u.Kind.Building():
		if len(v.bases)+len(v.barracks)+v.towers == 0 {
			v.home = u.Pos
		}
		switch u.Kind {
		case Base:
			v.bases = append(v.bases, i)
			v.hatching += int(u.Queue)
		case Barracks:
			v.barracks = append(v.barracks, i)
		default:
			v.towers++
		}
	default:
		v.army++
		v.fighters = append(v.fighters, i)
		if u.Group <= ArmyGroups {
			t := &v.groups[u.Group]
			t.count++
			t.health, t.full = t.health+int(u.Health), t.full+int(u.Kind.Traits().Health)
			t.sumX, t.sumY = t.sumX+u.Pos.X, t.sumY+u.Pos.Y
			if u.Task != Idle || u.Target != 0 {
				t.busy++
			}
		}
	}
}
