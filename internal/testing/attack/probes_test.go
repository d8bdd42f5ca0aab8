package attack

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	inside "github.com/seed-49bee653/samestep/module/guest"
)

// A rulesMachine runs rules as a module does, without WebAssembly.
type rulesMachine struct {
	rules lockstep.Rules[skirmish.World, skirmish.Config]
}

// New implements abi.Machine.
func (m rulesMachine) New() (abi.Caller, error) {
	return inside.New(m.rules, func(int) skirmish.Config { return skirmish.Sized(4, 40) })
}

// Answers of a game that tell of hidden things are wins, and answers by the view are none.
func TestProbes(t *testing.T) {
	for name, judge := range map[string]func(*skirmish.World, *lockstep.Command) error{
		"by the view": func(w *skirmish.World, c *lockstep.Command) error {
			return skirmish.Judge(w, c.Player)(c.Value)
		},
		"by the state": func(w *skirmish.World, c *lockstep.Command) error {
			stop, ok := c.Value.(*skirmish.Stop)
			if !ok || len(stop.Who.Units) == 0 {
				return skirmish.ErrNoUnits
			}
			for i := range w.Units {
				if w.Units[i].ID == stop.Who.Units[0] {
					return skirmish.ErrNotYours
				}
			}
			return skirmish.ErrUnknown
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules := skirmish.Rules()
			rules.View, rules.ViewOf = lockstep.ViewType{}, nil
			rules.Validate = func(w *skirmish.World, _ *skirmish.Config, c *lockstep.Command) error { return judge(w, c) }
			config := skirmish.Sized(4, 40)
			h, err := lockstep.MustGame(skirmish.Rules()).NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(4), &config)
			if err != nil {
				t.Fatal(err)
			}
			g, err := lockstep.NewGameElsewhere(testgame.Telling{Views: rulesMachine{skirmish.Rules()}, Judge: rulesMachine{rules}})
			if err != nil {
				t.Fatal(err)
			}
			sim, err := g.NewSimulation(h)
			if err != nil {
				t.Fatal(err)
			}
			a := &Attackers{game: g, report: Report{Told: map[string]int{}}}
			x := &probes{attackers: a, seat: 1, asked: map[lockstep.Sequence]probe{}}
			if err := x.begin(sim); err != nil {
				t.Fatal(err)
			}
			for seq := lockstep.Sequence(0); seq < 160; {
				for i := range x.think(sim) {
					seq++
					x.gave(i, seq)
					r := lockstep.Receipt{Sequence: seq, Tick: 2}
					if err := sim.Validate(&x.given[i].command); err != nil {
						r.Tick, r.Reason, r.Detail = 0, lockstep.Refused, err.Error()
					}
					x.answer(r)
				}
			}
			t.Logf("%d of %d hidden things found, %v", x.found, len(x.hidden), a.report.Told)
			if tells := name == "by the state"; (x.found > 0) != tells || (len(a.report.Wins) > 0) != tells || len(x.hidden) == 0 {
				t.Errorf("found %d of %d hidden things, wins %q", x.found, len(x.hidden), a.report.Wins)
			}
			if len(a.report.Wins) > 0 && !strings.Contains(a.report.Wins[0], ", which it does not see, ") {
				t.Errorf("got %q", a.report.Wins[0])
			}
		})
	}
}
