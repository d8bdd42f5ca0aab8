package live

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/state"
)

// Of two views it can be seen what has died, and what was only lost from sight.
func TestSeenEvents(t *testing.T) {
	codec := state.MustCompile[skirmish.View]()
	bright := make([]uint64, 64)
	for i := range 16 {
		bright[i] = 0xffff // the upper left quarter of a quarter is in sight
	}
	at := func(cells int) fixed.Vec2 {
		return fixed.Vec2{X: fixed.Q(cells) * fixed.One, Y: fixed.Q(cells) * fixed.One}
	}
	unit := func(id skirmish.UnitID, owner uint8, cells int, kind skirmish.UnitKind, health uint16) skirmish.Seen {
		return skirmish.Seen{ID: id, Owner: owner, Pos: at(cells), Kind: kind, Health: health, Built: true}
	}
	first := skirmish.View{
		Size: 64, Players: []skirmish.Seat{{Team: 0}, {Team: 1}}, Explored: bright, Visible: bright, Rock: make([]uint64, 64),
		Units: []skirmish.Seen{
			unit(1, 0, 5, skirmish.Soldier, 50), unit(2, 0, 6, skirmish.Soldier, 50), unit(3, 1, 7, skirmish.Soldier, 50), unit(4, 1, 15, skirmish.Soldier, 50), unit(5, 0, 3, skirmish.Barracks, 50),
		},
	}
	first.Units[4].Built = false
	second := first
	second.Units = []skirmish.Seen{unit(2, 0, 6, skirmish.Soldier, 40), unit(5, 0, 3, skirmish.Barracks, 50), unit(6, 0, 4, skirmish.Worker, 10)}
	second.Players = []skirmish.Seat{{Team: 0}, {Team: 1, Status: skirmish.Defeated}}
	second.Ended, second.Winner = 12, 1
	var got []any
	l := look{game: rules()}
	tell := func(event any) { got = append(got, event) }
	a, b := codec.Append(nil, &first), codec.Append(nil, &second)
	if !l.take(&player.Sight{Previous: a, Current: a, PreviousTick: 10, Tick: 10}, tell) || len(got) > 0 {
		t.Fatalf("the first view: %v", got)
	}
	want := []any{
		skirmish.Death{Unit: 1, Kind: skirmish.Soldier, At: at(5)}, skirmish.Shot{At: 2}, skirmish.Death{Unit: 3, Kind: skirmish.Soldier, Owner: 1, At: at(7)},
		skirmish.BuildingDone{Unit: 5, Kind: skirmish.Barracks, At: at(3)}, skirmish.Trained{Unit: 6, Kind: skirmish.Worker},
		skirmish.PlayerDefeated{Player: 1}, skirmish.MatchWon{Team: 0},
	}
	for range 2 { // the second time it is known
		if !l.take(&player.Sight{Previous: a, Current: b, PreviousTick: 10, Tick: 12}, tell) || !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if l.take(&player.Sight{Current: []byte{1}, Tick: 13}, tell) {
		t.Error("a byte was taken as a view")
	}
}
