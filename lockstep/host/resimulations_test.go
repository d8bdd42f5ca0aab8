package host_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A match whose referee reported that it was wrong can continue after a crash. A match whose log has other wrong
// checksums cannot.
func TestRecoveryAfterWrongReferee(t *testing.T) {
	for _, told := range []bool{true, false} {
		p := newParty(t, nil, nil)
		log := testgame.Records{p.early[0], p.early[1]}
		p.record = func(b []byte) { _ = log.Append(b) }
		a := p.join("a", "p0")
		p.pass(1500 * lockstep.Millisecond)
		p.wrongReferee = 3
		if err := corrupt(p.game, p.h.Referee().Simulation(), "Die"); err != nil {
			t.Fatal(err)
		}
		if !told {
			a.blocked = true
		}
		p.pass(600 * lockstep.Millisecond)
		r := host.NewRecovery(p.game)
		for _, b := range log {
			if err := r.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		h, err := r.Host(p.now, host.Options{Authorize: p.authorize, Random: func(b []byte) { b[0]++ }})
		var desync *lockstep.DesyncError
		switch {
		case !told && !errors.As(err, &desync):
			t.Errorf("nobody had noticed: got %v, want a DesyncError", err)
		case told && err != nil:
			t.Error(err)
		case told && h.Referee().Simulation().Hash() != a.follower.Simulation().Hash():
			t.Errorf("goes on with another state of tick %d than the player has of tick %d", h.Now(), a.follower.Tick())
		}
	}
}

// If no state before a contradicted check is kept, there is no re-simulation, and the player is told that it differs.
func TestResimulationWithoutHistory(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.EvidenceHistory = 1 })
	p.join("a", "p0")
	p.pass(1500 * lockstep.Millisecond)
	p.wrongReferee = 1 << 20
	if err := corrupt(p.game, p.h.Referee().Simulation(), "Die"); err != nil {
		t.Fatal(err)
	}
	p.pass(1000 * lockstep.Millisecond)
	if p.events[host.RefereeHealed] != 0 || p.events[host.PeerDesynced] == 0 {
		t.Errorf("healed %d times, %d desyncs", p.events[host.RefereeHealed], p.events[host.PeerDesynced])
	}
}
