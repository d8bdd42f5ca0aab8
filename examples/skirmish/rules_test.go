package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// arena returns a bare map of 64 cells for two players, each with a base in a corner and nothing else, and no zones.
func arena(tb testing.TB) *World {
	w := newWorld(tb, 1, 2, Config{Units: 2, Size: 64, Crystals: 1000, Cap: 100, Teams: 2})
	w.Crystals = w.Crystals[:0]
	return w
}

// cells returns a place in whole cells.
func cells(x, y int64) fixed.Vec2 { return fixed.Vec2{X: fixed.FromInt(x), Y: fixed.FromInt(y)} }

// put adds a unit to a world between two ticks.
func put(w *World, kind UnitKind, owner uint8, at fixed.Vec2) UnitID {
	id := w.spawn(Unit{Kind: kind, Owner: owner, Pos: at, Goal: at, Health: kind.Traits().Health, Built: true})
	w.bear()
	w.index()
	return id
}

// wall puts rock into a rectangle of cells.
func wall(w *World, left, bottom, right, top int) {
	for y := bottom; y <= top; y++ {
		for x := left; x <= right; x++ {
			w.Map.set(x, y, true)
		}
	}
	derive(w)
}

// unit returns a unit that must be alive.
func unit(tb testing.TB, w *World, id UnitID) *Unit {
	tb.Helper()
	i := w.find(id)
	if i < 0 {
		tb.Fatalf("unit %d is dead at tick %d", id, w.Match.Tick)
	}
	return &w.Units[i]
}

func list(ids ...UnitID) Who { return Who{Units: ids} }

func by(p lockstep.Player, value any) lockstep.Command {
	return lockstep.Command{Player: p, Value: value}
}

// until runs a world until done, and fails the test if that takes more than limit ticks. It returns the ticks taken.
func until(tb testing.TB, w *World, limit int, done func() bool, commands ...lockstep.Command) int {
	tb.Helper()
	for n := 1; n <= limit; n++ {
		advance(w, 1, commands...)
		commands = nil
		if done() {
			return n
		}
	}
	tb.Fatalf("not done after %d ticks: %+v", limit, w.Units)
	return 0
}

func TestMove(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to fixed.Vec2
		rock     [4]int
		ticks    int // at least and at most one and a half times as many
	}{
		{"straight", cells(10, 30), cells(20, 30), [4]int{}, 72},
		{"no way", cells(10, 30), cells(10, 30), [4]int{}, 1},
		{"diagonal", cells(30, 10), cells(33, 14), [4]int{}, 36},
		{"far", cells(5, 30), cells(58, 33), [4]int{}, 376},
		{"around a wall", cells(20, 30), cells(40, 30), [4]int{30, 10, 31, 50}, 340},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := arena(t)
			if test.rock != [4]int{} {
				wall(w, test.rock[0], test.rock[1], test.rock[2], test.rock[3])
			}
			id := put(w, Soldier, 0, test.from)
			ticks := until(t, w, test.ticks*3/2, func() bool { return unit(t, w, id).Task == Idle },
				by(0, &Move{Who: list(id), To: PointAt(test.to)}))
			if got := unit(t, w, id).Pos; got != test.to {
				t.Errorf("arrived at %v, want exactly %v", got, test.to)
			}
			if ticks < test.ticks {
				t.Errorf("took %d ticks, faster than %d", ticks, test.ticks)
			}
		})
	}
}

// A queued order follows the first one.
func TestMoveQueued(t *testing.T) {
	w := arena(t)
	id := put(w, Soldier, 0, cells(20, 20))
	at := map[fixed.Vec2]bool{}
	until(t, w, 200, func() bool {
		u := unit(t, w, id)
		at[u.Pos] = true
		return u.Task == Idle
	}, by(0, &Move{Who: list(id), To: PointAt(cells(25, 20))}), by(0, &Move{Who: list(id), To: PointAt(cells(25, 30)), Queued: true}))
	if !at[cells(25, 20)] || unit(t, w, id).Pos != cells(25, 30) {
		t.Errorf("ended at %v, first place met: %v", unit(t, w, id).Pos, at[cells(25, 20)])
	}
}

// All units of a group arrive near the goal, and no two stand on one place.
func TestMoveGroup(t *testing.T) {
	w := arena(t)
	wall(w, 30, 20, 31, 63)
	var ids []UnitID
	for k := range int64(40) {
		ids = append(ids, put(w, Soldier, 0, cells(10+k%8, 40+k/8)))
	}
	advance(w, 1, by(0, &Assign{Group: 3, Units: ids}), by(0, &Move{Who: Who{Group: 3}, To: PointAt(cells(45, 40))}))
	until(t, w, 900, func() bool {
		for _, id := range ids {
			if unit(t, w, id).Task != Idle {
				return false
			}
		}
		return true
	})
	if got := unit(t, w, ids[0]).Pos; !got.InRange(cells(45, 40), fixed.One) {
		t.Errorf("the first one stands at %v", got)
	}
	for i, id := range ids {
		u := unit(t, w, id)
		if !u.Pos.InRange(cells(45, 40), 7*fixed.One) {
			t.Errorf("unit %d stands at %v", id, u.Pos)
		}
		for _, other := range ids[:i] {
			if v := unit(t, w, other); v.Pos.InRange(u.Pos, fixed.One/4) {
				t.Errorf("units %d and %d stand at %v and %v", id, other, u.Pos, v.Pos)
			}
		}
	}
}

func TestPatrol(t *testing.T) {
	w := arena(t)
	id := put(w, Soldier, 0, cells(20, 30))
	ends := 0
	last := cells(20, 30)
	until(t, w, 500, func() bool {
		u := unit(t, w, id)
		if u.Task != Patrolling {
			t.Fatalf("the task is %v", u.Task)
		}
		if u.Pos != last && (u.Pos == cells(20, 30) || u.Pos == cells(30, 30)) {
			ends, last = ends+1, u.Pos
		}
		return ends == 4
	}, by(0, &Patrol{Who: list(id), To: PointAt(cells(30, 30))}))
	advance(w, 1, by(0, &Stop{Who: list(id)}))
	if u := unit(t, w, id); u.Task != Idle {
		t.Errorf("the task is %v after a stop", u.Task)
	}
}

// A unit that holds its position fights what it reaches, and nothing brings it away but the next order.
func TestHold(t *testing.T) {
	w := arena(t)
	archer, soldier, building := put(w, Archer, 0, cells(15, 30)), put(w, Soldier, 0, cells(15, 31)), put(w, Base, 0, cells(5, 5))
	near, far := put(w, Worker, 1, cells(20, 30)), put(w, Worker, 1, cells(23, 30))
	advance(w, 1, by(0, &Hold{list(archer, soldier, building)}))
	advance(w, 400)
	if w.find(near) >= 0 || w.find(far) < 0 {
		t.Errorf("killed: %v and %v, want the nearer one alone", w.find(near) < 0, w.find(far) < 0)
	}
	for id, at := range map[UnitID]fixed.Vec2{archer: cells(15, 30), soldier: cells(15, 31)} {
		if u := unit(t, w, id); u.Pos != at || u.Task != Holding {
			t.Errorf("unit %d is at %v with task %v", id, u.Pos, u.Task)
		}
	}
	if u := unit(t, w, building); u.Task == Holding {
		t.Error("a building holds")
	}
	advance(w, 1, by(0, &Move{Who: list(soldier), To: PointAt(cells(20, 31)), Queued: true}))
	if u := unit(t, w, soldier); u.Task != Moving {
		t.Errorf("the task is %v after a queued order", u.Task)
	}
}

func TestAttack(t *testing.T) {
	for _, test := range []struct {
		name     string
		kind     UnitKind
		distance int64 // of the victim
		command  func(by, at UnitID) any
		hits     bool
	}{
		{"soldier next to it", Soldier, 1, nil, true},
		{"soldier sees it", Soldier, 6, nil, true},
		{"soldier does not see it", Soldier, 12, nil, false},
		{"archer in range", Archer, 5, nil, true},
		{"worker does not fight", Worker, 1, nil, false},
		{"worker told to", Worker, 3, func(by, at UnitID) any { return &Attack{list(by), at} }, true},
		{"soldier told to, far", Soldier, 30, func(by, at UnitID) any { return &Attack{list(by), at} }, true},
		{"passing by", Soldier, 6, func(by, _ UnitID) any { return &Move{Who: list(by), To: PointAt(cells(10, 50))} }, false},
		{"attack-move", Soldier, 14, func(by, _ UnitID) any { return &AttackMove{Who: list(by), To: PointAt(cells(30, 30))} }, true},
		{"tower in range", Tower, 6, nil, true},
		{"tower out of range", Tower, 9, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := arena(t)
			id := put(w, test.kind, 0, cells(15, 30))
			victim := put(w, Worker, 1, cells(15+test.distance, 30))
			if test.command != nil {
				advance(w, 1, by(0, test.command(id, victim)))
			}
			advance(w, 400)
			if killed := w.find(victim) < 0; killed != test.hits {
				t.Errorf("killed is %v, want %v", killed, test.hits)
			}
			if u := unit(t, w, id); test.hits && (u.Kills != 1 || w.Players[0].Kills != 1 || w.Players[1].Losses != 1) {
				t.Errorf("one death counted as kills %d and %d, losses %d", u.Kills, w.Players[0].Kills, w.Players[1].Losses)
			}
		})
	}
}

// A soldier hits every Cooldown ticks, and each hit reduces the health by its damage.
func TestHit(t *testing.T) {
	w := arena(t)
	id := put(w, Soldier, 0, cells(30, 30))
	victim := put(w, Worker, 1, cells(31, 30))
	health, last := Worker.Traits().Health, 0
	until(t, w, 200, func() bool {
		if w.find(victim) < 0 {
			return true
		}
		now := int(w.Match.Tick)
		if u := unit(t, w, victim); u.Health != health {
			if damage := health - u.Health; damage < 7 || damage > 8 {
				t.Errorf("a hit takes %d, want 7 or 8", damage)
			}
			if last != 0 && now-last != int(Soldier.Traits().Cooldown) {
				t.Errorf("%d ticks from hit to hit, want %d", now-last, Soldier.Traits().Cooldown)
			}
			health, last = u.Health, now
		}
		return false
	})
	if unit(t, w, id).Target != 0 {
		advance(w, 1)
	}
	if u := unit(t, w, id); u.Target != 0 {
		t.Errorf("the soldier still aims at %d", u.Target)
	}
}

// An idle soldier pursues a near enemy for a short way, and returns to its place.
func TestGuard(t *testing.T) {
	w := arena(t)
	id := put(w, Soldier, 0, cells(20, 30))
	bait := put(w, Worker, 1, cells(20, 37))
	farthest := fixed.Q(0)
	advance(w, 1, by(1, &Move{Who: list(bait), To: PointAt(cells(20, 60))}))
	until(t, w, 600, func() bool {
		u := unit(t, w, id)
		farthest = max(farthest, u.Pos.Y-30*fixed.One)
		return farthest > 0 && u.Pos == cells(20, 30)
	})
	if farthest < fixed.One || farthest > 9*fixed.One {
		t.Errorf("it went %v cells after the enemy, want 1 to 9", farthest)
	}
}

// Of two equally near enemies, a unit attacks the older one.
func TestNearestTie(t *testing.T) {
	w := arena(t)
	id := put(w, Soldier, 0, cells(30, 30))
	first := put(w, Soldier, 1, cells(30, 34)) // its row of the grid is read last
	put(w, Soldier, 1, cells(30, 26))
	w.sense()
	if got := w.nearestEnemy(w.find(id), 8*fixed.One); got != w.find(first) {
		t.Errorf("got the unit with index %d, want %d", got, w.find(first))
	}
}

// A tower and a base shoot, but not while under construction.
func TestSiteDoesNotShoot(t *testing.T) {
	for _, kind := range []UnitKind{Tower, Base} {
		w := arena(t)
		site := put(w, kind, 0, cells(30, 30))
		victim := put(w, Soldier, 1, cells(34, 30))
		unit(t, w, site).Built, unit(t, w, victim).Health = false, 20
		advance(w, 100)
		unit(t, w, victim)
		unit(t, w, site).Built = true
		until(t, w, 100, func() bool { return w.find(victim) < 0 })
	}
}

// Two equal soldiers kill each other: neither the lower ID nor the lower player hits first.
func TestDuel(t *testing.T) {
	w := arena(t)
	a := put(w, Soldier, 0, cells(30, 30))
	b := put(w, Soldier, 1, cells(31, 30))
	unit(t, w, a).Health, unit(t, w, b).Health = 7, 7
	unit(t, w, a).Target, unit(t, w, b).Target = b, a
	advance(w, 1)
	if w.find(a) >= 0 || w.find(b) >= 0 {
		t.Errorf("one survived: %+v", w.Units)
	}
}
