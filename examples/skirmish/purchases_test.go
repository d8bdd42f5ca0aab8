package skirmish_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Of several purchases in a tick, each of which the player can afford, those beyond the crystals are refused when they run, with the reason.
func TestPurchasesOfOneTick(t *testing.T) {
	m := newMatch(t, 1, 2, skirmish.Defaults(2, 300))
	w := m.world()
	cost, base := skirmish.Worker.Traits().Cost, w.Units[0].ID
	affords := w.Players[0].Crystals / cost
	var tick lockstep.Tick
	for range affords + 2 {
		r := m.submit(0, &skirmish.Train{Building: base, Kind: skirmish.Worker, Count: 1})
		if tick = r.Tick; r.Reason != lockstep.Accepted {
			t.Fatal(r)
		}
	}
	for m.follower.Tick() < tick {
		if _, err := m.c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("%v: %d, a worker costs %d", skirmish.ErrPoor, m.world().Players[0].Crystals, cost)
	for seq := lockstep.Sequence(1); seq <= lockstep.Sequence(affords+2); seq++ {
		reason, refused := m.follower.Simulation().Refused(&lockstep.Command{Tick: tick, Player: 0, Sequence: seq})
		if late := seq > lockstep.Sequence(affords); refused != late || late && reason != want {
			t.Errorf("purchase %d of %d that the player affords: got refused %v %q, want %v %q", seq, affords, refused, reason, late, want)
		}
	}
	if u := &m.world().Units[0]; uint32(u.Queue) != affords {
		t.Errorf("the base trains %d, want %d", u.Queue, affords)
	}
}
