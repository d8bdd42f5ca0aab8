package player_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A client answers with the record of its own ticks, also if a state of the server's replaces its own at once.
func TestFlightIsAnswered(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == 47 {
			w.Spots[3].X++
		}
	}), func(o *host.Options) { o.Desync = host.ResyncDesynced }, nil)
	var record []byte
	m.Change = func(msg *protocol.Message) bool {
		if msg.Kind == protocol.KindFlight {
			record = append(record, msg.Bytes...)
		}
		return false
	}
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	r, err := flight.Parse(record)
	if err != nil || r.First() != 1 || r.Last() < 60 {
		t.Fatalf("got %d bytes: %v", len(record), err)
	}
	if c, ok := flight.Compare(r, m.Host.Referee().Flight().Record(), 0); !ok || c.Differs != 47 {
		t.Errorf("got %+v, want another state in tick 47", c)
	}
}
