//go:build woven

package faultinjection

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Explain is judged on mistakes in the source of the example games. TestRuleBugs builds this test with an overlay, in which
// the games have the mistakes of testdata/rulebugs.txt.
func TestWoven(t *testing.T) {
	all := &Result{}
	for _, s := range []struct {
		*Subject
		bug func(number int) *lockstep.Game
	}{
		{rts(), func(n int) *lockstep.Game { return mistaken(skirmish.Rules(), skirmish.SelectMutant, n) }},
		{boxes(), func(n int) *lockstep.Game { return mistaken(platforms.Rules(), platforms.SelectMutant, n) }},
	} {
		if err := s.measure(1); err != nil {
			t.Fatal(err)
		}
		d := &drill{subject: s.Subject, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: all}
		for i, m := range ruleBugs(t) {
			if !strings.HasPrefix(m.Func, "examples/"+s.Game.Name()+".") {
				continue
			}
			before := len(all.Rows)
			if err := d.ruleBug(bug{m.Name, s.bug(i + 1)}); errors.Is(err, errNoPlace) {
				t.Logf("%s: %v", m.Name, err)
			} else if err != nil {
				t.Fatal(m.Name, err)
			}
			for _, r := range all.Rows[before:] {
				if t.Logf("%s: %s, want %s", r.Planted, r.Found, r.Want); !r.Right {
					t.Errorf("%s: not right", r.Planted)
				}
			}
		}
	}
	f := &all.RuleBugs
	t.Logf("figures: %d rule bugs: %s", f.Faults, f.ruleText())
	if f.Faults < 30 || f.Tick < f.Faults || f.False > 0 || 10*f.Field < 9*f.Faults || f.Exact < f.Asked || f.Asked < 25 {
		t.Errorf("want 30 rule bugs, every tick, nine of ten fields, no false cause, and the exact tick of each that goes wrong again")
	}
}

// mistaken returns the game whose rules have a mistake.
func mistaken[S, C any](rules lockstep.Rules[S, C], choose func(int), number int) *lockstep.Game {
	step := rules.Step
	rules.Step = func(w *S, c *C, t *lockstep.Turn) {
		choose(number)
		defer choose(0)
		step(w, c, t)
	}
	return lockstep.MustGame(rules)
}
