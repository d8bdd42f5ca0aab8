package faultinjection

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

type (
	// A gate takes in what comes while it is open: in every third tick.
	gate struct {
		Sum   uint64
		Count [2]uint32
	}
	enter struct{ By uint16 }
)

// gates is a game in which most commands do nothing in their tick.
func gates() *Subject {
	rules := lockstep.Rules[gate, struct{}]{
		Name: "gate", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[enter](1, "enter")},
		New: func(w *gate, s *lockstep.Settings, _ *struct{}) error { w.Sum = s.Seed; return nil },
		Step: func(w *gate, _ *struct{}, t *lockstep.Turn) {
			w.Sum = w.Sum*31 + uint64(w.Count[0])
			for i := range t.Commands {
				if e, ok := t.Commands[i].Value.(*enter); ok && t.Tick%3 == 0 {
					w.Sum += uint64(e.By)
					w.Count[t.Commands[i].Player%2]++
				}
			}
		},
	}
	return &Subject{
		Game: lockstep.MustGame(rules), Config: &struct{}{}, Players: 2, Faulty: Faulty(rules),
		Bot: func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
			dice := rand.New(rand.NewPCG(seed, uint64(p)))
			return func(*lockstep.Simulation) []any {
				if dice.IntN(9) > 0 {
					return nil
				}
				return []any{&enter{By: uint16(dice.IntN(60000))}}
			}
		},
	}
}

// A command that ran too late is named as such, whether the machine that ran it so has computed the ticks again or not: what
// follows at first is what a lost command leads to. The command may do nothing in the tick in which it should have run.
func TestLateCommandAskedAgain(t *testing.T) {
	for _, row := range []struct {
		subject *Subject
		by      []int
		long    bool
	}{
		{gates(), []int{1, 2, 5, 7, 11}, false},
		{rts(), []int{1, 2, 5, 7, 12}, true},
	} {
		t.Run(row.subject.Game.Name(), func(t *testing.T) {
			if row.long {
				testenv.Long(t)
			}
			if err := row.subject.measure(1); err != nil {
				t.Fatal(err)
			}
			d := &drill{subject: row.subject, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: &Result{}}
			if err := d.noFault(); err != nil {
				t.Fatal(err)
			}
			early := 0 // commands that did nothing in their tick
			for _, by := range row.by {
				v, err := plant(d.base, d.dice, func(m *match, dice *rand.Rand) (*variant, error) {
					v, err := commandFault{kind: desync.MovedCommand, by: by, change: late(by)}.plant(m, dice)
					if v != nil && row.subject.Game.Name() == "gate" {
						v.tick += lockstep.Tick(by) // its first consequence, if it did nothing before
					}
					return v, err
				})
				if err != nil {
					t.Fatal(err)
				}
				m, err := d.subject.play(d.seed, cast{referee: d.subject.Game, copied: v.game, seat: 1})
				if err != nil {
					t.Fatal(err)
				}
				answered, err := m.computeAgain(v.game)
				if err != nil || answered == nil {
					t.Fatalf("%d too late: got the answer %v, %v", by, answered, err)
				}
				if answered.Resimulation.First > v.command.Tick {
					early++
				}
				alone, err := m.explained(d.tools, m.evidence())
				if err != nil {
					t.Fatal(err)
				}
				again, err := m.explained(d.tools, answered)
				if err != nil {
					t.Fatal(err)
				}
				for name, e := range map[string]*desync.Explanation{"without the answer": alone, "with it": again} {
					if e.Cause == nil || !v.is(e.Cause) {
						t.Errorf("%d too late, %s: got %v, want %s late", by, name, e.Cause, v.what)
					}
				}
				if fmt.Sprint(alone.Cause) != fmt.Sprint(again.Cause) || again.First.From != again.First.To {
					t.Errorf("%d too late: with the answer %v in %v, without it %v", by, again.Cause, again.First, alone.Cause)
				}
			}
			if !row.long && early < 2 {
				t.Errorf("%d commands did nothing in their tick, want 2", early)
			}
		})
	}
}
