package simulate

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/module/guest"
)

// A burrowsMachine runs rules of the burrows as a module does, without WebAssembly.
type burrowsMachine struct {
	rules lockstep.Rules[burrows, struct{}]
}

// New implements abi.Machine.
func (m burrowsMachine) New() (abi.Caller, error) { return guest.New(m.rules, nil) }

// burrowsJudgedBy returns the burrows as rules elsewhere, which answer to commands by the whole state.
func burrowsJudgedBy(t *testing.T, judge func(*burrows, *lockstep.Command) error) *Subject {
	rules := burrowsRules()
	rules.View, rules.ViewOf = lockstep.ViewType{}, nil
	rules.Validate = func(w *burrows, _ *struct{}, c *lockstep.Command) error { return judge(w, c) }
	g, err := lockstep.NewGameElsewhere(testgame.Telling{Views: burrowsMachine{burrowsRules()}, Judge: burrowsMachine{rules}})
	if err != nil {
		t.Fatal(err)
	}
	s := Burrows()
	s.Game, s.Config = g, &record.Untyped{}
	payloads, play := burrowsGame.NewPayloads(), s.Play
	s.Play = func(p lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
		own := play(p, r)
		return func(sim *lockstep.Simulation) (values []any) {
			for _, v := range own(sim) {
				kind, payload, err := payloads.Encode(v)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, &record.Untyped{Kind: kind, Canonical: bytes.Clone(payload)})
			}
			return values
		}
	}
	return s
}

// Answers that tell what is hidden are found. The first seed whose plan hides the state is 5.
func TestControlsOfSecrecy(t *testing.T) {
	for _, c := range []struct {
		name, text string
		judge      func(*burrows, *lockstep.Command) error
	}{
		{"nothing is told", "", func(w *burrows, c *lockstep.Command) error {
			var v burrowsView
			if err := seeBurrows(w, nil, burrowsTeam(w, c.Player), &v); err != nil {
				return err
			}
			return refuseBurrows(&v, c)
		}},
		{"a refusal", "is told what it does not see: message ", func(w *burrows, c *lockstep.Command) error {
			if o, ok := c.Value.(*knock); ok && (o.Cell^w.Moles[1].Cell)&1 == 0 {
				return errDug
			}
			return nil
		}},
		{"a text", "is told what it does not see: message ", func(w *burrows, c *lockstep.Command) error {
			if _, ok := c.Value.(*knock); !ok {
				return nil
			}
			if w.Moles[1].Digs&1 != 0 {
				return errors.New("not now")
			}
			return errors.New("never")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Expand(Options{Subject: Burrows(), Clients: 4, Length: Shortest}, 5)
			out, err := apart(burrowsJudgedBy(t, c.judge), p)
			if err != nil {
				t.Fatal(err)
			}
			if v := out.Violation; c.text == "" && v != nil || c.text != "" && (v == nil || v.Invariant != "I23" || !strings.Contains(v.Text, c.text)) {
				t.Errorf("got %v, want %q", v, c.text)
			}
			if c.text == "" && out.Counts["messages compared"] == 0 {
				t.Error("no message was compared")
			}
		})
	}
}
