package lockstep_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A match whose referee was wrong, and has said so, can go on after a crash; one
// whose log has wrong checksums otherwise cannot.
func TestResumptionAfterWrongReferee(t *testing.T) {
	for _, told := range []bool{true, false} {
		p := newParty(t, nil, nil)
		log := shelf{p.early[0], p.early[1]}
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
		r := lockstep.NewResumption(p.game)
		for _, b := range log {
			if err := r.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		h, err := r.Host(p.now, &shelf{}, lockstep.HostOptions{Authorize: p.authorize, Random: func(b []byte) { b[0]++ }})
		var desync *lockstep.DesyncError
		switch {
		case !told && !errors.As(err, &desync):
			t.Errorf("nobody had noticed: got %v, want a DesyncError", err)
		case told && err != nil:
			t.Error(err)
		case told && h.Referee().Simulation().Root() != a.follower.Simulation().Root():
			t.Errorf("goes on with another state of tick %d than the player has of tick %d", h.Now(), a.follower.Tick())
		}
	}
}

// Where the state before a contradicted check is not kept, nothing can be
// computed again, and whoever differs is told so as ever.
func TestRetrialWithoutHistory(t *testing.T) {
	p := newParty(t, nil, func(o *lockstep.HostOptions) { o.EvidenceHistory = 1 })
	p.join("a", "p0")
	p.pass(1500 * lockstep.Millisecond)
	p.wrongReferee = 1 << 20
	if err := corrupt(p.game, p.h.Referee().Simulation(), "Die"); err != nil {
		t.Fatal(err)
	}
	p.pass(1000 * lockstep.Millisecond)
	if p.events[lockstep.RefereeHealed] != 0 || p.events[lockstep.PeerDesynced] == 0 {
		t.Errorf("healed %d times, %d desyncs", p.events[lockstep.RefereeHealed], p.events[lockstep.PeerDesynced])
	}
}

// A game that computes something else each time is told from a bit that flipped.
func TestRetrialOfAnotherResultEachTime(t *testing.T) {
	rules := lampRules
	draws := uint32(0)
	rules.Step = func(w *lamps, turn *lockstep.Turn) {
		draws++
		w.Presses = draws
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &nobody{})
	if err != nil {
		t.Fatal(err)
	}
	var got []lockstep.Retrial
	c, err := lockstep.NewCoordinator(game, header, &shelf{}, lockstep.CoordinatorOptions{
		Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}},
		Desync:  func(r *lockstep.DesyncReport) { got = append(got, r.Retrial) },
		Frames: func(from, to lockstep.Tick) (all []lockstep.Frame) {
			for at := from + 1; at <= to; at++ {
				all = append(all, lockstep.Frame{Tick: at})
			}
			return all
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	does(t)(c.Join(0))
	for range 40 {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	var sum checksum.Sum
	c.Referee().Simulation().Sum(&sum)
	sum.Root++
	if err := c.Report(0, 40, &sum); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != lockstep.NeitherRight {
		t.Errorf("got %v, want one that neither is right", got)
	}
}
