package skirmish

import (
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	closest = fixed.One * 3 / 4 // units whose middles are closer push each other away
	shove   = fixed.One / 8     // the largest push in one tick, along each axis
)

// walk moves a unit one step towards its goal, and reports whether it has arrived or given up.
func (w *World) walk(i int, goal fixed.Vec2) bool {
	u := &w.Units[i]
	before := u.Pos
	w.shift(u, u.Pos.MoveToward(goal, u.Kind.Traits().Speed))
	if u.Pos == goal {
		return true
	}
	w.push(i)
	switch speed := u.Kind.Traits().Speed; {
	case distance2(before, u.Pos) < square(speed/4):
		u.Stuck++
	case u.Stuck > 0:
		u.Stuck--
	}
	return u.Stuck >= patience
}

// shift moves a unit to a near place. If rock is in the way, it moves along one axis only, or not at all.
func (w *World) shift(u *Unit, to fixed.Vec2) {
	g := &w.workspace.ground
	switch {
	case g.Free(to):
		u.Pos = to
	case g.Free(fixed.Vec2{X: to.X, Y: u.Pos.Y}):
		u.Pos.X = to.X
	case g.Free(fixed.Vec2{X: u.Pos.X, Y: to.Y}):
		u.Pos.Y = to.Y
	}
}

// push moves a unit away from units that are too close.
func (w *World) push(i int) {
	if by := w.workspace.surveys[i].shove; by != (fixed.Vec2{}) {
		u := &w.Units[i]
		w.shift(u, fixed.Vec2{X: u.Pos.X + by.X, Y: u.Pos.Y + by.Y})
	}
}

// scatter returns a random direction in which unit a leaves the spot that it shares with b; b goes the opposite way.
func (w *World) scatter(t *lockstep.Turn, a, b UnitID) fixed.Vec2 {
	t.Drew("scatter", uint32(a))
	angle := fixed.Turn(fixed.Draw(w.Match.Seed, uint32(min(a, b)), uint32(max(a, b)), purposeScatter, 0))
	if a > b {
		angle += fixed.HalfTurn
	}
	way := fixed.Polar(angle, fixed.One/4)
	return fixed.Vec2{X: way.X / (1 << 16), Y: way.Y / (1 << 16)}
}

// clear pushes units out of a building.
func (w *World) clear(i int) {
	s, u := &w.workspace, &w.Units[i]
	radius := u.Kind.Traits().Radius
	for b := s.grid.Around(u.Pos, radius); b.Next(); {
		for _, j := range b.IDs() {
			v, there := &w.Units[j], s.seen[j].at
			if v.Kind.Building() || !there.InRange(u.Pos, radius) {
				continue
			}
			way := there.Sub(u.Pos)
			if way == (fixed.Vec2{}) {
				way = w.scatter(w.workspace.turn, v.ID, u.ID)
			}
			w.shift(v, v.Pos.Add(way.Normalize().Scale(shove)))
		}
	}
}

// The purposes of stateless draws.
const (
	purposeScatter = iota
	purposeDamage
)
