package host_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The player that differs and one that agrees are asked for the records of their last ticks, twice a minute each.
func TestHostAsksForFlights(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(nil), nil, nil)
	m.Change = func(msg *protocol.Message) bool {
		if msg.Kind == protocol.KindChecksum && msg.Tick/20%2 == 0 {
			msg.Hash ^= 1
		}
		return false
	}
	m.Until(func() bool { return len(m.Evidence) >= 4 }, nil)
	for i, e := range m.Evidence {
		var whose []lockstep.Player
		for _, f := range e.Flights {
			whose = append(whose, f.Player)
		}
		slices.Sort(whose)
		want := []lockstep.Player{0, 1, lockstep.System}
		if i >= 2 {
			want = want[2:]
		}
		if !slices.Equal(whose, want) {
			t.Errorf("evidence %d has the records of %v, want %v", i, whose, want)
		}
	}
}
