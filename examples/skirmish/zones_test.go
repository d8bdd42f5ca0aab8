package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

func TestZones(t *testing.T) {
	type outcome struct {
		at       fixed.Vec2
		health   uint16
		crystals uint32
	}
	for _, test := range []struct {
		name string
		zone Zone
		to   fixed.Vec2
		want func(o outcome) bool
	}{
		{"teleport", Zone{Kind: Teleport, Exit: 1}, cells(30, 30), func(o outcome) bool { return o.at.InRange(cells(50, 20), 2*fixed.One) }},
		{"teleport, passing", Zone{Kind: Teleport, Exit: 1}, cells(40, 30), func(o outcome) bool { return o.at == cells(40, 30) }},
		{"teleport to nowhere", Zone{Kind: Teleport, Exit: 9}, cells(30, 30), func(o outcome) bool { return o.at == cells(30, 30) }},
		{"shrine", Zone{Kind: Shrine}, cells(30, 30), func(o outcome) bool { return o.health == 10+Soldier.Traits().Health/2 }},
		{"shrine at rest", Zone{Kind: Shrine, Ready: 1000}, cells(30, 30), func(o outcome) bool { return o.health == 10 }},
		{"hoard", Zone{Kind: Hoard}, cells(30, 30), func(o outcome) bool { return o.crystals >= 40 && o.crystals <= 120 }},
		{"none of the kinds", Zone{Kind: zoneKinds}, cells(30, 30), func(o outcome) bool { return o.health == 10 && o.crystals == 0 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := arena(t)
			test.zone.Pos, test.zone.Radius = cells(30, 30), fixed.One
			w.Zones = []Zone{test.zone, {Pos: cells(50, 20), Radius: fixed.One, Kind: zoneKinds}}
			id := put(w, Soldier, 0, cells(20, 30))
			unit(t, w, id).Health = 10
			before := w.Players[0].Crystals
			advance(w, 200, by(0, &Move{Who: list(id), To: PointAt(test.to)}))
			u := unit(t, w, id)
			if o := (outcome{u.Pos, u.Health, w.Players[0].Crystals - before}); !test.want(o) {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// A zone acts once for each entry, on the lower ID first.
func TestZoneOrder(t *testing.T) {
	w := arena(t)
	w.Zones = []Zone{{Pos: cells(30, 30), Radius: 2 * fixed.One, Kind: Shrine}}
	b := put(w, Soldier, 0, cells(30, 29))
	a := put(w, Soldier, 1, cells(30, 30))
	unit(t, w, a).Health, unit(t, w, b).Health = 60, 50
	advance(w, 1)
	if unit(t, w, b).Health < 100 || unit(t, w, a).Health > 60 || w.Zones[0].Ready < 2 {
		t.Errorf("healed to %d and %d", unit(t, w, b).Health, unit(t, w, a).Health)
	}
}

// happened runs a world on the engine for a number of ticks, with the commands in the first one, and returns the events of
// a type.
func happened[E any](tb testing.TB, w *World, ticks int, commands ...lockstep.Command) (events []E) {
	tb.Helper()
	rules, began := Rules(), lockstep.Tick(w.Match.Tick)
	rules.Step = func(w *World, _ *Config, t *lockstep.Turn) {
		tick := t.Tick
		t.Tick, t.Commands, commands = tick+began, commands, nil
		step(w, nil, t)
		t.Tick = tick
	}
	game, config := lockstep.MustGame(rules), Defaults(2, 40)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		tb.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	sim.Observe(func(_ lockstep.Tick, e any) {
		if e, ok := e.(E); ok {
			events = append(events, e)
		}
	})
	inside := lockstep.World[World](sim)
	codec.Copy(inside, w)
	derive(inside)
	for range ticks {
		if err := sim.Step(&lockstep.Frame{Tick: sim.Tick() + 1}); err != nil {
			tb.Fatal(err)
		}
	}
	codec.Copy(w, inside)
	derive(w)
	return events
}

// A teleport takes one unit after the other, and those that wait stay where they are. Those that pass do not wait.
func TestTeleportRecovers(t *testing.T) {
	w := arena(t)
	w.Zones = []Zone{{Pos: cells(30, 30), Radius: fixed.One, Kind: Teleport, Exit: 1}, {Pos: cells(50, 20), Radius: fixed.One, Kind: Teleport}}
	var ids []UnitID
	for range 3 {
		ids = append(ids, put(w, Soldier, 0, cells(30, 30)))
	}
	passing := put(w, Soldier, 0, cells(30, 30))
	unit(t, w, passing).Goal = cells(40, 40)
	var at []uint32
	until(t, w, 60, func() bool {
		for len(ids) > 0 && unit(t, w, ids[0]).Pos.InRange(cells(50, 20), 2*fixed.One) {
			ids, at = ids[1:], append(at, w.Match.Tick)
		}
		return len(ids) == 0
	})
	if at[0] != 1 || at[1] != 1+teleportTicks || at[2] != 1+2*teleportTicks {
		t.Errorf("teleported at the ticks %v, want one in %d", at, teleportTicks)
	}
	if u := unit(t, w, passing); !u.Pos.InRange(cells(30, 30), 2*fixed.One) {
		t.Errorf("the passing unit is at %v", u.Pos)
	}
	advance(w, 30)
	if w.Zones[1].Ready != 0 {
		t.Error("the other end takes the units back")
	}
}

// A worker that leaves a hoard takes a load along, once, also while the hoard recovers. Other units take nothing.
func TestHoardOnLeaving(t *testing.T) {
	w := arena(t)
	w.Zones = []Zone{{Pos: cells(30, 30), Radius: fixed.One, Kind: Hoard, Ready: 1 << 30}}
	worker, soldier := put(w, Worker, 0, cells(30, 30)), put(w, Soldier, 0, cells(30, 31))
	advance(w, 5)
	if unit(t, w, worker).Cargo != 0 {
		t.Error("the worker has a load before it leaves")
	}
	left := happened[Exited](t, w, 60, by(0, &Move{Who: list(worker, soldier), To: PointAt(cells(36, 30))}))
	if len(left) != 2 || left[0].Kind != Hoard || unit(t, w, worker).Cargo != load || unit(t, w, soldier).Cargo != 0 {
		t.Errorf("left as %+v with loads of %d and %d", left, unit(t, w, worker).Cargo, unit(t, w, soldier).Cargo)
	}
}

// A spawn zone belongs to who came first until the last unit has left or died, and then to the owner of the oldest unit.
func TestSpawnZoneHolder(t *testing.T) {
	w := arena(t)
	w.Zones = []Zone{{Pos: cells(30, 30), Radius: 2 * fixed.One, Kind: Spawn}}
	a, b := put(w, Worker, 0, cells(30, 30)), put(w, Worker, 0, cells(30, 31))
	claimed := happened[Claimed](t, w, 3)
	theirs := put(w, Worker, 1, cells(31, 30))
	claimed = append(claimed, happened[Claimed](t, w, 60, by(0, &Move{Who: list(a), To: PointAt(cells(20, 30))}))...)
	if len(claimed) != 1 || claimed[0].Holder != 1 || w.Zones[0].Holder != 1 {
		t.Fatalf("claimed as %+v, want once by player 0", claimed)
	}
	unit(t, w, b).Health = 0
	advance(w, 1)
	if w.Zones[0].Holder != 2 {
		t.Errorf("holder %d after the death of the last unit, want player 1", w.Zones[0].Holder)
	}
	claimed = happened[Claimed](t, w, 60, by(1, &Move{Who: list(theirs), To: PointAt(cells(40, 30))}))
	if w.Zones[0].Holder != 0 || len(claimed) != 1 || claimed[0].Holder != 0 {
		t.Errorf("holder %d of the empty zone, claimed as %+v", w.Zones[0].Holder, claimed)
	}
}

// A building delivers in a spawn zone if its rally point is there and the zone is of its team.
func TestSpawnZoneDelivers(t *testing.T) {
	for _, row := range []struct {
		name   string
		holder uint8
		rally  fixed.Vec2
		there  bool
	}{
		{"held", 1, cells(30, 30), true},
		{"held by an ally", 3, cells(30, 31), true},
		{"held by an enemy", 2, cells(30, 30), false},
		{"held by nobody", 0, cells(30, 30), false},
		{"held by a player that there is not", 200, cells(30, 30), false},
		{"rally elsewhere", 1, cells(34, 30), false},
	} {
		w := newWorld(t, 1, 4, Config{Units: 4, Size: 64, Crystals: 1000, Cap: 100, Teams: 2})
		w.Zones = []Zone{{Pos: cells(30, 30), Radius: 2 * fixed.One, Kind: Spawn, Holder: row.holder}}
		var ground = w.workspace.ground.Free(cells(30, 30))
		barracks := put(w, Barracks, 0, cells(20, 20))
		unit(t, w, barracks).Goal = row.rally
		advance(w, 1, by(0, &Train{Building: barracks, Kind: Soldier, Count: 1}))
		var born *Unit
		until(t, w, 300, func() bool {
			born = &w.Units[len(w.Units)-1]
			return born.Kind == Soldier
		})
		if there := born.Pos.InRange(cells(30, 30), fixed.One); there != row.there || !ground {
			t.Errorf("%s: the soldier appears at %v", row.name, born.Pos)
		}
	}
}
