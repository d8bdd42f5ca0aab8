package desync_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// TestMuseum plants mistakes of the repository's history again that made the referee's state another one. Explain names who
// was wrong, the field and the cause, and excludes no right tick. docs/engine-tests.md lists them.
func TestMuseum(t *testing.T) {
	for _, c := range []struct {
		commit string
		game   func() *lockstep.Game // the referee's
		first  lockstep.Tick         // the first divergent tick; 0 for any
		field  string
		cause  desync.CauseKind
	}{
		{"48a373a0", func() *lockstep.Game { // Validate changes the state, and only the server runs it
			rules := skirmish.Rules()
			rules.View, rules.ViewOf = lockstep.ViewType{}, nil
			rules.Validate = func(w *world, _ *skirmish.Config, c *lockstep.Command) error {
				if lockstep.Tick(w.Match.Tick) >= faultTick {
					w.Rand.Uint64()
				}
				return skirmish.Judge(w, c.Player)(c.Value)
			}
			return lockstep.MustGame(rules)
		}, 0, "Rand.Hi", desync.OtherDraws},
		{"279c5582", func() *lockstep.Game { // a bit flips in the server's memory, and every player seems to be wrong
			return lockstep.MustGame(fault(func(w *world, t *turn, step step) bool { step(w, t); w.Units[7].Health ^= 1 << 6; return true }).rules())
		}, faultTick, "Units[ID=9].Health", desync.AlteredField},
	} {
		t.Run(c.commit, func(t *testing.T) {
			x := newTableWith(t, c.game(), true, victim, 1, 100)
			x.play(t, 400)
			e, err := desync.Explain(open(t, x.bundle(t)), withGame(t))
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict.Party != desync.WrongReferee {
				t.Errorf("got the verdict %+v, want the referee", e.Verdict)
			}
			if e.First.From > faultTick || e.First.To < faultTick {
				t.Errorf("got the first divergent tick %+v, which excludes %d", e.First, faultTick)
			}
			if e.Fields.Total == 0 || e.Fields.List[0].Path != c.field {
				t.Errorf("got the fields %v, want %s first", e.Fields.List, c.field)
			}
			if e.Cause == nil || e.Cause.Kind != c.cause || c.first > 0 && (e.Cause.When.From > c.first || e.Cause.When.To < c.first) {
				t.Errorf("got the cause %+v, want %s", e.Cause, c.cause)
			}
		})
	}
}
