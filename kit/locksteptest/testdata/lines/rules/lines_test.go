package rules_test

import (
	"testing"

	"example.com/lines/rules"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

func TestBugs(t *testing.T) {
	for _, bug := range []string{"", "stale", "outside", "map", "lazy", "each", "test"} {
		t.Run(bug, func(t *testing.T) {
			r := rules.Variant(bug)
			if step, calls := r.Step, int64(0); bug == "test" {
				r.Step = func(w *rules.World, c *rules.Config, t *lockstep.Turn) {
					step(w, c, t)
					calls++ // the line of test
					w.Sum += calls
				}
			}
			locksteptest.Check(t, lockstep.MustGame(r), locksteptest.Options{Config: &rules.Config{}, Ticks: 80, AllowThin: "it moves"})
		})
	}
}

func FuzzBugs(f *testing.F) {
	locksteptest.Fuzz(f, lockstep.MustGame(rules.Variant("stale")), locksteptest.Options{Config: &rules.Config{}, Ticks: 30}, locksteptest.Source{
		Package: "rules_test", Path: "example.com/lines/rules", Game: "lockstep.MustGame(rules.Variant(\"stale\"))", Imports: []string{"example.com/lines/rules"},
	})
}
