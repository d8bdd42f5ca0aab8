package live

import (
	"reflect"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/state"
)

// The units of fields that differ are marked while they are alive, where this client had them; their ghosts are where the match
// has them.
func TestDamaged(t *testing.T) {
	place := fixed.Vec2{X: 3 * fixed.One, Y: fixed.One}
	w := &skirmish.World{Units: []skirmish.Unit{{ID: 5, Health: 8}, {ID: 9, Owner: 1, Health: 40, Pos: place}}}
	fields := []state.Difference{
		{Path: "Match.Winner", A: "1", B: "0"}, {Path: "Units[ID=9].Health", A: "41", B: "40"}, {Path: "Units[1].Pos.X", A: "2.5", B: "3"},
		{Path: "Units[7].Health"}, {Path: "Units[ID=7].Health", A: "1", B: "2"}, {Path: "Units", A: "2", B: "3"}, {Path: "Units[x]"}, {Path: "Units[1].Pos.Y", A: "?", B: "1"},
	}
	got := marksOf(w, append(damaged(w, fields), damage{id: 100}))
	want := []scene.Mark{{Owner: 1, At: fixed.Vec2{X: place.X - fixed.Half, Y: place.Y}, Other: place, Ghost: true, Health: 41, OtherHealth: 40}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got marks %+v, want %+v", got, want)
	}
}

// Before the match's state has arrived, a change that the user has made shows the value before it. Changing it back marks
// nothing.
func TestPlanted(t *testing.T) {
	at := func(health uint16) *skirmish.Unit { return &skirmish.Unit{ID: 5, Health: health} }
	all := planted(nil, at(40), at(41))
	if all = planted(all, at(41), at(43)); len(all) != 1 || all[0].here != 43 || all[0].match != 40 {
		t.Errorf("got %+v, want 43 here and 40 in the match", all)
	}
	if all = planted(all, at(43), at(40)); len(all) != 0 {
		t.Errorf("changed back: got %+v", all)
	}
}

// A comparison that comes after the checksums agree again marks nothing.
func TestComparedLate(t *testing.T) {
	g := newGame()
	g.damaged = []damage{{id: 5}}
	for _, e := range []any{player.Desynced{Tick: 5}, player.Healed{Tick: 10}, player.Explained{Tick: 11}} {
		g.handle(&player.Client{}, e)
	}
	if len(g.damaged) > 0 || g.differs {
		t.Errorf("got %+v, want no marks", g.damaged)
	}
}
