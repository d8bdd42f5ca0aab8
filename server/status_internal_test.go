package server

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
)

// While a match is recovered nobody knows what its log says: its seed is not told, whatever the flags of the new server are.
func TestRecoveringMatchTellsNoSeed(t *testing.T) {
	game := lockstep.MustGame(testgame.LampRules)
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 7
	h, err := game.NewHeader(lockstep.MatchID{1}, settings, &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	v := newStatus(&Match{spec: MatchSpec{Name: "duel", Game: game}, server: &services{}}, h, matchRecovering)
	if v.Settings.Seed != 0 || v.PlayersSee != "" || v.State != "recovering" {
		t.Errorf("got %+v", v)
	}
	if told := v.told(disclosure.Spectator); told.Stats.figures != nil {
		t.Errorf("got the statistics %+v", told.Stats.figures)
	}
}

// When a match has ended, everybody may know its statistics and its last tick, and the metrics hide nothing of it.
func TestEndedMatchTellsAll(t *testing.T) {
	m := &Match{}
	reg := &registry{matches: map[string]*Match{"duel": m}}
	for _, c := range []struct {
		ended string
		over  bool
		tick  lockstep.Tick
	}{{"", false, 70}, {"enough", true, 100}, {"the log failed", false, 70}} {
		v := &Status{Name: "duel", State: "playing", Tick: 100, Ended: c.ended, over: c.over, disclosed: disclosure.Policy{Delay: 30}}
		m.status.Store(v)
		told := v.told(disclosure.Spectator)
		if told.Tick != c.tick || told.Stats.Tick != c.tick || (told.Stats.figures != nil) != c.over || reg.hides() == c.over {
			t.Errorf("%q: got tick %d, %+v, hides: %t", c.ended, told.Tick, told.Stats, reg.hides())
		}
	}
}
