package skirmish

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

func TestRefuse(t *testing.T) {
	w := arena(t)
	home := w.Units[0].Pos                                                // base 1 of player 0; base 2 of player 1 is out of sight
	for _, at := range []fixed.Vec2{home.Add(cells(0, 8)), cells(5, 5)} { // the second is hidden
		w.Crystals = append(w.Crystals, Crystal{Pos: at, Amount: 9, Full: 9})
	}
	mine := put(w, Worker, 0, home.Add(cells(4, 0)))
	theirs := put(w, Soldier, 1, home.Add(cells(0, 5)))
	hidden := put(w, Soldier, 1, cells(14, 50))
	barracks := put(w, Barracks, 0, home.Sub(cells(7, 0)))
	advance(w, lookTicks)
	unit(t, w, barracks).Queue, unit(t, w, barracks).Making, unit(t, w, barracks).Work = 2, Archer, 90
	var many []UnitID
	for id := range UnitID(MaxListed + 1) {
		many = append(many, id+1)
	}
	here, sorted := PointAt(home), list(1, mine)
	for _, test := range []struct {
		name    string
		player  lockstep.Player
		command any
		want    error
	}{
		{"move", 0, &Move{Who: sorted, To: here}, nil},
		{"no units", 0, &Move{To: here}, ErrNoUnits},
		{"too many units", 0, &Stop{Who{Units: many}}, ErrTooMany},
		{"group and list", 0, &Stop{Who{Group: 1, Units: []UnitID{mine}}}, ErrTooMany},
		{"empty group", 0, &Stop{Who{Group: 7}}, ErrNoUnits},
		{"group", 0, &Stop{Who{Group: WorkerGroup}}, nil},
		{"twice the same", 0, &Stop{list(mine, mine)}, ErrNotSorted},
		{"descending", 0, &Stop{list(mine, 1)}, ErrNotSorted},
		{"unit 0", 0, &Stop{list(0)}, ErrNotSorted},
		{"no such unit", 0, &Stop{list(mine, 999)}, ErrUnknown},
		{"a hidden unit", 0, &Stop{list(mine, hidden)}, ErrUnknown},
		{"not mine", 0, &Stop{list(theirs)}, ErrNotYours},
		{"off the map", 0, &AttackMove{Who: sorted, To: Point{512, 3}}, ErrOffMap},
		{"off the map below", 0, &Patrol{Who: sorted, To: Point{3, 60000}}, ErrOffMap},
		{"attack", 0, &Attack{sorted, theirs}, nil},
		{"attack what is gone", 0, &Attack{sorted, 999}, ErrUnseen},
		{"attack a friend", 0, &Attack{sorted, 1}, ErrFriend},
		{"attack the unseen", 0, &Attack{sorted, hidden}, ErrUnseen},
		{"attack an unknown building", 0, &Attack{sorted, 2}, ErrUnseen},
		{"gather", 0, &Gather{sorted, 0}, nil},
		{"gather what is hidden", 0, &Gather{sorted, 1}, ErrUnknown},
		{"gather nothing", 0, &Gather{sorted, 2}, ErrUnknown},
		{"build", 0, &Build{sorted, Tower, PointAt(home.Add(cells(6, 0)))}, nil},
		{"build a soldier", 0, &Build{sorted, Soldier, here}, ErrWrongKind},
		{"build a nothing", 0, &Build{sorted, 200, here}, ErrWrongKind},
		{"build on a base", 0, &Build{sorted, Tower, here}, ErrNoRoom},
		{"build at the edge", 0, &Build{sorted, Tower, Point{0, 200}}, ErrNoRoom},
		{"build on a hidden base", 0, &Build{sorted, Tower, PointAt(w.Units[1].Pos)}, nil},
		{"train", 0, &Train{1, Worker, 3}, nil},
		{"train none", 0, &Train{1, Worker, 0}, ErrNoUnits},
		{"train dear ones", 0, &Train{1, Worker, 20}, nil},
		{"train too many", 0, &Train{1, Worker, 21}, ErrBusy},
		{"train beyond a byte", 0, &Train{1, Worker, 255}, ErrBusy},
		{"train something else", 0, &Train{barracks, Soldier, 1}, ErrBusy},
		{"train more of it", 0, &Train{barracks, Archer, 1}, nil},
		{"train in the wrong building", 0, &Train{1, Soldier, 1}, ErrWrongKind},
		{"train a nothing", 0, &Train{1, NoUnit, 1}, ErrWrongKind},
		{"train in a worker", 0, &Train{mine, Worker, 1}, ErrWrongKind},
		{"train in another's", 0, &Train{theirs, Worker, 1}, ErrNotYours},
		{"train in a hidden one", 0, &Train{2, Worker, 1}, ErrUnknown},
		{"train nowhere", 0, &Train{999, Worker, 1}, ErrUnknown},
		{"assign", 0, &Assign{Group: 3, Units: []UnitID{1, mine}}, nil},
		{"assign another's", 0, &Assign{Group: 3, Units: []UnitID{theirs}}, ErrNotYours},
		{"empty a group", 0, &Assign{Group: 3}, nil},
		{"no such player", 2, &Stop{sorted}, ErrUnknown},
		{"no such command", 0, &struct{}{}, ErrUnknown},
	} {
		if got := Judge(w, test.player)(test.command); !errors.Is(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	w.Players[0].Crystals = 149
	for _, command := range []any{&Build{sorted, Tower, PointAt(home.Add(cells(6, 0)))}, &Train{1, Worker, 3}} {
		if got := Judge(w, 0)(command); !errors.Is(got, ErrPoor) {
			t.Errorf("with 149 crystals %s: got %v, want %v", deed(command), got, ErrPoor)
		}
	}
	w.Players[0].Status = Defeated
	if got := Judge(w, 0)(&Stop{sorted}); !errors.Is(got, ErrDefeated) {
		t.Errorf("defeated: got %v", got)
	}
}

// Points are exact to an eighth of a cell, and stay in range.
func TestPoint(t *testing.T) {
	for _, test := range []struct {
		at   fixed.Vec2
		want Point
	}{
		{cells(0, 512), Point{0, 4096}},
		{fixed.Vec2{X: fixed.One / 8, Y: fixed.One/16 - 1}, Point{1, 0}},
		{fixed.Vec2{X: fixed.One / 16, Y: fixed.One*3/16 - 1}, Point{1, 1}},
		{cells(-3, 1<<20), Point{0, 1<<16 - 1}},
	} {
		if got := PointAt(test.at); got != test.want {
			t.Errorf("%v: got %v, want %v", test.at, got, test.want)
		}
	}
	for x := range uint16(5000) {
		if p := (Point{x, 4999 - x}); PointAt(p.Vec2()) != p {
			t.Fatalf("%v comes back as %v", p, PointAt(p.Vec2()))
		}
	}
}

// Common orders are small on the wire.
func TestPayloadSizes(t *testing.T) {
	payloads := lockstep.MustGame(Rules()).NewPayloads()
	var fourteen []UnitID
	for id := range UnitID(14) {
		fourteen = append(fourteen, 300+id)
	}
	for _, test := range []struct {
		command any
		want    int // bytes
	}{
		{&Move{Who: Who{Group: 1}, To: Point{300, 400}}, 10},
		{&AttackMove{Who: Who{Group: 1}, To: Point{300, 400}, Queued: true}, 10},
		{&Attack{Who{Group: 200}, 1000}, 9},
		{&Move{Who: Who{Units: fourteen}, To: Point{300, 400}}, 66},
		{&Train{300, Soldier, 5}, 6},
		{&Build{list(300), Barracks, Point{300, 400}}, 14},
		{&Gather{list(300, 301, 302), 7}, 19},
	} {
		_, b, err := payloads.Encode(test.command)
		if err != nil || len(b) != test.want {
			t.Errorf("%s: got %d bytes, want %d (%v)", deed(test.command), len(b), test.want, err)
		}
	}
}
