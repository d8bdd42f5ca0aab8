package host

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The input delay does not follow the first measurement of a client that is busy with its start.
func TestMeasuredAfterBusyStart(t *testing.T) {
	var p peer
	for _, ms := range []lockstep.Time{1400, 4, 5} {
		p.measured(ms * lockstep.Millisecond)
	}
	if p.rtt > 5*lockstep.Millisecond || p.jitter > 2*lockstep.Millisecond {
		t.Errorf("got a round trip of %v and a jitter of %v", p.rtt, p.jitter)
	}
}
