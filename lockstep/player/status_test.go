package player

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A client that is busy with its start, such as a page, shows the true round trip after four pings.
func TestRoundTripAfterBusyStart(t *testing.T) {
	const ms = lockstep.Millisecond
	var m measure
	now := lockstep.Time(0)
	measured := func(trip lockstep.Time) {
		nonce := m.ping(now)
		m.pong(now+trip, nonce)
		now += trip
	}
	m.begin(now)
	for _, trip := range []lockstep.Time{1400 * ms, 900 * ms, 5 * ms, 40 * ms} {
		measured(trip)
	}
	if m.roundTrip != 5*ms {
		t.Errorf("got a round trip of %v, want 5 ms", m.roundTrip)
	}
	for range 40 {
		measured(80 * ms)
	}
	if m.roundTrip < 75*ms {
		t.Errorf("later: got a round trip of %v, want 80 ms", m.roundTrip)
	}
}
