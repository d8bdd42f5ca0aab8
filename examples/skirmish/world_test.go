package skirmish

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

func hash(w *World) uint64 {
	var sum checksum.Sum
	checksum.Of(&sum, codec, w)
	return sum.Hash
}

// A unit has no padding, so it is copied and hashed as a block, and it fits into two cache lines.
func TestUnitSize(t *testing.T) {
	var w World
	empty := len(codec.Append(nil, &w))
	w.Units = make([]Unit, 1)
	if got, want := len(codec.Append(nil, &w))-empty, int(unsafe.Sizeof(Unit{})); got != want || want > 128 {
		t.Errorf("a unit has %d canonical bytes and %d in memory", got, want)
	}
}

func TestFog(t *testing.T) {
	w := arena(t)
	scout := put(w, Soldier, 0, cells(20, 40))
	advance(w, lookTicks)
	near, far, edge := cells(20, 45), cells(40, 40), fixed.Vec2{X: 28*fixed.One + fixed.Half, Y: 40*fixed.One + fixed.Half}
	check := func(at fixed.Vec2, sees, knows bool) {
		t.Helper()
		if w.Sees(0, at) != sees || w.Knows(0, at) != knows {
			t.Errorf("tick %d, %v: sees %v, knows %v; want %v, %v", w.Match.Tick, at, w.Sees(0, at), w.Knows(0, at), sees, knows)
		}
	}
	check(near, true, true)
	check(edge, true, true)
	check(far, false, false)
	if w.Sees(1, near) || w.Sees(7, near) || w.Sees(0, cells(-1, 2)) || w.Sees(0, cells(3, 64)) {
		t.Error("seen by another team, or outside of the map")
	}
	until(t, w, 400, func() bool { return unit(t, w, scout).Task == Idle }, by(0, &Move{Who: list(scout), To: PointAt(cells(45, 40))}))
	advance(w, lookTicks)
	check(near, false, true)
	check(far, true, true)
}

// A team shares the vision of its players.
func TestFogOfTeam(t *testing.T) {
	w := newWorld(t, 1, 4, Config{Units: 4, Size: 64, Cap: 50, Teams: 2})
	for p := range w.Players {
		for team := range uint8(2) {
			if got, want := w.Sees(team, w.Units[p].Pos), team == uint8(p)%2; got != want {
				t.Errorf("team %d sees the base of player %d: %v", team, p, got)
			}
		}
	}
}

func TestWin(t *testing.T) {
	w := newWorld(t, 1, 4, Config{Units: 4, Size: 64, Cap: 50, Teams: 2})
	raze := func(p uint8) {
		w.Units[w.find(UnitID(p)+1)].Health = 1
		w.workspace.selected = nil
		put(w, Tower, (p+1)%4, w.Units[w.find(UnitID(p)+1)].Pos.Add(cells(4, 0)))
		until(t, w, 100, func() bool { return w.Players[p].Status == Defeated })
	}
	raze(1)
	if w.Match.Ended != 0 {
		t.Fatal("won while player 3 of the same team stands")
	}
	advance(w, 1, lockstep.Command{Player: lockstep.System, Value: &lockstep.Left{Player: 3}})
	if w.Match.Winner != 1 || w.Match.Ended != w.Match.Tick || w.Players[3].Status != Defeated {
		t.Errorf("match %+v at tick %d, players %+v", w.Match, w.Match.Tick, w.Players)
	}
	ended := w.Match.Ended
	advance(w, 50)
	if w.Match.Ended != ended || w.Match.Tick <= ended {
		t.Errorf("the world does not go on: %+v", w.Match)
	}
}

// A match without opponents has no winner.
func TestAlone(t *testing.T) {
	w := newWorld(t, 1, 2, Config{Units: 2, Size: 64, Cap: 50, Teams: 1})
	advance(w, 3)
	if w.Match.Ended != 0 || w.Match.Winner != 0 {
		t.Errorf("won by nobody: %+v", w.Match)
	}
}

// The engine's commands about players.
func TestSystemCommands(t *testing.T) {
	w := arena(t)
	system := func(value any) Status {
		advance(w, 1, lockstep.Command{Player: lockstep.System, Value: value})
		return w.Players[0].Status
	}
	for _, test := range []struct {
		value any
		want  Status
	}{
		{&lockstep.Lost{Player: 0}, Absent},
		{&lockstep.Joined{Player: 0}, Playing},
		{&lockstep.Lost{Player: 0}, Absent},
		{&lockstep.TakenOver{Player: 0}, Playing},
		{&lockstep.SpeedSet{Percent: 50}, Playing},
		{&lockstep.Lost{Player: 9}, Playing},
		{&lockstep.Left{Player: 0}, Defeated},
		{&lockstep.Joined{Player: 0}, Defeated},
	} {
		if got := system(test.value); got != test.want {
			t.Errorf("after %T: got %v, want %v", test.value, got, test.want)
		}
	}
	id := put(w, Soldier, 0, cells(30, 30))
	advance(w, 20, by(0, &Move{Who: list(id), To: PointAt(cells(40, 40))}))
	if u := unit(t, w, id); u.Pos != cells(30, 30) {
		t.Error("a defeated player moves units")
	}
}

// The players' bases are rotations of each other, and every open cell is reachable from the middle.
func TestMapFair(t *testing.T) {
	for seed := range uint64(6) {
		for players := uint8(1); players <= MaxPlayers; players++ {
			config := Defaults(players, max(100, 30*uint16(players)))
			w := newWorld(t, seed, players, config)
			ground, middle := &w.workspace.ground, w.workspace.ground.At(w.Map.middle())
			var paths grid.Paths
			costs := make([]uint32, players)
			for c := range grid.Cell(ground.Cells()) {
				if _, ok := paths.Cost(ground.Ground, middle, c); ok != ground.Open(c) {
					t.Fatalf("seed %d: cell %d is open: %v; can be reached: %v", seed, c, ground.Open(c), ok)
				}
				x, y := ground.XY(c)
				if turned := ground.Cell(int32(ground.Columns)-1-y, x); ground.Open(c) != ground.Open(turned) {
					t.Fatalf("seed %d: cell %d and its turn differ", seed, c)
				}
			}
			for i := range w.Units {
				if u := &w.Units[i]; u.Kind == Base {
					costs[u.Owner], _ = paths.Cost(ground.Ground, middle, ground.At(u.Pos.Sub(fixed.Vec2{X: 1, Y: 1})))
					if !ground.Free(u.Pos) {
						t.Errorf("seed %d: base of player %d on rock", seed, u.Owner)
					}
				}
			}
			if least, most := slices.Min(costs), slices.Max(costs); players == 4 && most-least > 6 {
				t.Errorf("seed %d: the ways from the bases to the middle cost %v", seed, costs)
			}
		}
	}
}

func TestConfigRefused(t *testing.T) {
	for _, test := range []struct {
		players uint8
		change  func(c *Config)
		want    string
	}{
		{0, func(c *Config) {}, "skirmish: bad config: players is 0, want 1 to 16"},
		{17, func(c *Config) {}, "skirmish: bad config: players is 17, want 1 to 16"},
		{4, func(c *Config) { c.Size = 16 }, "skirmish: bad config: size is 16, want 32 to 512"},
		{4, func(c *Config) { c.Size = 65 }, "skirmish: bad config: size is 65, want an even number"},
		{4, func(c *Config) { c.Units = 3 }, "skirmish: bad config: units is 3, want 68 to 30000"},
		{4, func(c *Config) { c.Teams = 5 }, "skirmish: bad config: teams is 5, want 1 to 4"},
		{4, func(c *Config) { c.Obstacles = 90 }, "skirmish: bad config: obstacles is 90, want 0 to 40"},
	} {
		config := Defaults(4, 400)
		test.change(&config)
		err := start(new(World), &lockstep.Settings{Players: test.players}, &config)
		if err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// Matches of all sizes start with exactly the configured units.
func TestStartSizes(t *testing.T) {
	for _, units := range []uint16{100, 400, 1000, 10000} {
		for _, players := range []uint8{2, 4, 8} {
			w := newWorld(t, 1, players, Defaults(players, units))
			if want := int(units / uint16(players) * uint16(players)); len(w.Units) != want {
				t.Errorf("%d players: %d units, want %d", players, len(w.Units), want)
			}
			if err := sound(w); err != nil {
				t.Errorf("%d players, %d units: %v", players, units, err)
			}
		}
	}
}
