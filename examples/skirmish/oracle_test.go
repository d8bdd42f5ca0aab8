package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// These tests compare fast code with simple code.

// A map with an open edge, which no generator makes, behaves like one with a wall around it.
func TestOpenEdge(t *testing.T) {
	w := arena(t)
	clear(w.Map.Blocked)
	derive(w)
	id := put(w, Soldier, 0, cells(5, 5))
	advance(w, 600, by(0, &Move{Who: list(id), To: Point{0, 511}}))
	if u := unit(t, w, id); u.Task != Idle || u.Pos.X < fixed.One || u.Pos.Y > 63*fixed.One {
		t.Errorf("the unit is at %v with %v", u.Pos, u.Task)
	}
	var paths grid.Paths
	if got, ok := paths.Cost(w.workspace.ground.Ground, 65, 62*64+62); !ok || got != 61*3 {
		t.Errorf("the other corner costs %d", got)
	}
	if _, ok := paths.Cost(w.workspace.ground.Ground, 65, 0); ok {
		t.Error("the edge is open")
	}
}

// The grid finds the same nearest enemy and the same push as a loop over all units.
func TestNeighbours(t *testing.T) {
	w := newBattle(t, 600)
	advance(w, 40)
	w.sense()
	surveyAll(w, new(lockstep.Turn))
	at := make([]fixed.Vec2, len(w.Units))
	for i := range at {
		at[i] = w.Units[i].Pos
	}
	found, pushed := 0, 0
	for i := range w.Units {
		u := &w.Units[i]
		best, nearest := -1, square(8*fixed.One)
		var by fixed.Vec2
		for j := range w.Units {
			d := distance2(at[i], at[j])
			if v := &w.Units[j]; v.Team != u.Team && v.fights() && d <= nearest && (d < nearest || best < 0) {
				best, nearest = j, d
			}
			if overlap := square(closest) - d; overlap > 0 && at[i] != at[j] {
				by.X += (at[i].X - at[j].X) / (1 << 16) * (overlap / (1 << 16)) / 2
				by.Y += (at[i].Y - at[j].Y) / (1 << 16) * (overlap / (1 << 16)) / 2
			}
		}
		if best >= 0 {
			found++
			if got := w.nearestEnemy(i, 8*fixed.One); got != best {
				t.Errorf("unit %d: nearest enemy is %d, want %d", i, got, best)
			}
		}
		if u.Kind.Building() {
			continue // nothing pushes it
		}
		to := fixed.Vec2{X: u.Pos.X + fixed.Clamp(by.X, -shove, shove), Y: u.Pos.Y + fixed.Clamp(by.Y, -shove, shove)}
		if w.push(i); w.workspace.ground.Free(to) && u.Pos != to {
			t.Errorf("unit %d: pushed to %v, want %v", i, u.Pos, to)
		} else if by != (fixed.Vec2{}) {
			pushed++
		}
	}
	if found < 200 || pushed < 50 {
		t.Errorf("only %d enemies found, %d units pushed", found, pushed)
	}
}

// A team sees exactly the cells near its units.
func TestFogDiscs(t *testing.T) {
	w := newBattle(t, 200)
	team := uint8(2)
	w.reveal(team)
	g := &w.workspace.ground
	lit := 0
	for c := range grid.Cell(g.Cells()) {
		x, y := g.XY(c)
		want := false
		for i := range w.Units {
			u := &w.Units[i]
			dx, dy, r := int32(u.Pos.X.Int())-x, int32(u.Pos.Y.Int())-y, u.Kind.Traits().Sight
			want = want || u.Team == team && dx*dx+dy*dy <= r*r+r
		}
		if got := w.Sees(team, g.Center(c)); got != want {
			t.Fatalf("cell %d,%d: seen is %v, want %v", x, y, got, want)
		}
		if want {
			lit++
		}
	}
	if lit < 500 || lit == g.Cells() {
		t.Errorf("%d cells of %d seen", lit, g.Cells())
	}
}

// A command that does not fit its unit or target changes nothing.
func TestMisfitsChangeNothing(t *testing.T) {
	w := arena(t)
	w.Crystals = append(w.Crystals, Crystal{Pos: cells(30, 20), Amount: 9, Full: 9})
	worker, soldier := put(w, Worker, 0, cells(30, 30)), put(w, Soldier, 0, cells(32, 30))
	tower, enemy := put(w, Tower, 0, cells(30, 35)), put(w, Soldier, 1, cells(10, 50))
	const base, gone = UnitID(1), UnitID(99)
	here := PointAt(cells(35, 30))
	for _, command := range []any{
		&Move{Who: list(enemy), To: here}, &Move{Who: list(gone), To: here}, &Move{Who: Who{Group: 77}, To: here}, &Move{To: here},
		&AttackMove{Who: list(enemy, gone), To: here}, &Patrol{Who: list(gone), To: here},
		&Attack{list(base), enemy}, &Attack{list(tower), enemy}, &Attack{list(soldier), worker}, &Attack{list(soldier), gone},
		&Attack{list(soldier), soldier}, &Attack{list(enemy), soldier},
		&Stop{list(enemy)}, &Stop{list(base)},
		&Gather{list(soldier), 0}, &Gather{list(tower), 0}, &Gather{list(worker), 1}, &Gather{list(worker), 65535},
		&Build{list(soldier), Tower, here}, &Build{list(base), Tower, here}, &Build{list(worker), Soldier, here},
		&Build{list(worker), 255, here}, &Build{list(worker), NoUnit, here}, &Build{list(worker), Tower, Point{}},
		&Train{worker, Worker, 1}, &Train{soldier, Soldier, 1}, &Train{tower, Soldier, 1}, &Train{base, Soldier, 1},
		&Train{base, NoUnit, 1}, &Train{base, 255, 1}, &Train{base, Worker, 0}, &Train{2, Worker, 1}, &Train{gone, Worker, 1},
		&Assign{Group: 5, Units: []UnitID{enemy, gone}}, &Assign{Group: 5, Add: true},
		nil, &lockstep.Paused{}, Move{},
	} {
		a, b := fork(w), fork(w)
		advance(a, 30)
		advance(b, 30, by(0, command))
		if hash(a) != hash(b) {
			d, _ := codec.Schema().Diff(codec.Append(nil, a), codec.Append(nil, b), 4)
			t.Errorf("%T %+v changed %v", command, command, d)
		}
	}
}
