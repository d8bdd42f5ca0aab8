package lockstep_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// An answering machine answers each function with a fixed text, and others with nothing.
type answering map[abi.Function]string

// New implements abi.Machine.
func (a answering) New() (abi.Caller, error) { return a, nil }

// Call implements abi.Caller.
func (a answering) Call(f abi.Function, _ []byte) ([]byte, error) { return []byte(a[f]), nil }

// Close implements abi.Caller.
func (a answering) Close() {}

// An answer that is not of its type ends the match as a panic does.
func TestSaveIsChecked(t *testing.T) {
	const description = `{"abi":1,"game":"a","build":"1","state":"struct { A bool }","config":"struct {}","result":"struct { A bool }","view":"struct { A bool }","words":true,"commands":[]}`
	outcome := func(o abi.Outcome) string { return string(abi.Outcomes.Append(nil, &o)) }
	for name, answers := range map[string]answering{
		"state too long": {abi.Step: outcome(abi.Outcome{}), abi.Save: "\x01\x01"},
		"no bool":        {abi.Step: outcome(abi.Outcome{}), abi.Save: "\x02"},
		"no state":       {abi.Step: outcome(abi.Outcome{})},
		"no outcome":     {abi.Save: "\x01", abi.Step: "?"},
		"bad refusal":    {abi.Save: "\x01", abi.Step: string(abi.Answers.Append(nil, &abi.Answer{Refusals: []abi.CommandRefusal{{Player: 1, Sequence: 1}}}))},
		"bad result":     {abi.Save: "\x01", abi.Step: outcome(abi.Outcome{Ended: true, Result: []byte{7}})},
	} {
		t.Run(name, func(t *testing.T) {
			answers[abi.Describe] = description
			g, err := lockstep.NewGameElsewhere(answers)
			if err != nil {
				t.Fatal(err)
			}
			config, err := g.ReadConfig([]byte("{}"), nil)
			if err != nil {
				t.Fatal(err)
			}
			h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), config)
			if err != nil {
				t.Fatal(err)
			}
			s, err := g.NewSimulation(h)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Step(&lockstep.Frame{Tick: 1})
			if err == nil {
				if b := s.AppendState(nil); len(b) > 0 {
					t.Errorf("got the state %x", b)
				}
				err = s.Step(&lockstep.Frame{Tick: 2})
			}
			if p := (*lockstep.PanicError)(nil); !errors.As(err, &p) || !strings.Contains(p.Error(), "bad answer of ") {
				t.Errorf("got %v, want a panic for a bad answer", err)
			}
		})
	}
}
