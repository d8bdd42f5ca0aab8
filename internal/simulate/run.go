package simulate

import (
	"fmt"
	"runtime/debug"

	"github.com/seed-49bee653/samestep/lockstep"
)

// An Outcome is what came of one run.
type Outcome struct {
	Plan      *Plan
	Violation *Violation // nil if all held
	Trace     uint64     // hash of all that happened
	Span      lockstep.Time
	Last      []string // the last things that happened, of a run with a violation

	Tallies
}

// Run makes the run of a plan.
func Run(s *Subject, p *Plan) (out *Outcome, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	w, err := newWorld(s, p)
	if err != nil {
		return nil, err
	}
	func() {
		defer func() {
			if v := recover(); v != nil {
				w.fail("I10", "panic: %v\n%s", v, debug.Stack())
			}
		}()
		w.until(w.start + p.Chaos)
		if w.violation == nil && !w.over {
			w.finish()
		}
	}()
	out = &Outcome{Plan: p, Violation: w.violation, Trace: w.hash.Sum64(), Span: w.now - w.start}
	out.tally(w)
	if w.violation != nil {
		for i := max(0, w.moments-len(w.recent)); i < w.moments; i++ {
			out.Last = append(out.Last, w.recent[i%len(w.recent)].String())
		}
	}
	return out, nil
}

// check returns what is wrong with a plan that was not made by Expand.
func (p *Plan) check() error {
	if err := p.Settings.Check(); err != nil {
		return err
	}
	seats := 0
	for i := range p.Machines {
		if !p.Machines[i].Spectator {
			seats++
		}
	}
	if len(p.Machines) == 0 || seats > int(p.Settings.Players) {
		return fmt.Errorf("simulate: got %d machines and %d players in %d seats", len(p.Machines), seats, p.Settings.Players)
	}
	for i := range p.Faults {
		f := &p.Faults[i]
		if kindNamed(f.Kind) == nil || f.Who < 0 || f.Who >= len(p.Machines) || f.For < 0 || f.N < 0 {
			return fmt.Errorf("simulate: fault %d: got %+v", i, *f)
		}
	}
	return nil
}

// Twice makes the run of a plan twice, and compares the traces.
func Twice(s *Subject, p *Plan) (*Outcome, error) {
	first, err := Run(s, p)
	if err != nil || first.Violation != nil {
		return first, err
	}
	second, err := Run(s, p)
	if err != nil {
		return nil, err
	}
	if first.Trace != second.Trace {
		first.Violation = &Violation{Invariant: "I11", At: first.Span, Text: fmt.Sprintf("two runs of one plan have the traces %016x and %016x", first.Trace, second.Trace)}
	}
	first.Span += second.Span
	return first, nil
}
