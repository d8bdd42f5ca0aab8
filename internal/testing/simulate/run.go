package simulate

import (
	"fmt"
	"runtime/debug"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An Outcome is the result of one run.
type Outcome struct {
	Plan      *Plan
	Violation *Violation    // nil if all invariants held
	Trace     uint64        // hash of all events and messages
	Length    lockstep.Time // of the run, also while no server runs
	Played    lockstep.Time // of the ticks of the match
	AllRuns   lockstep.Time // the same, of all runs together
	Last      []string      // the last events of a run with a violation

	Reached *reach.Sum // of the match

	Tallies // these and Reached are of the first run
}

// Run makes the run of a plan.
func Run(s *Subject, p *Plan) (*Outcome, error) { return run(s, p, nil) }

// run makes a run, and keeps what viewers are sent if x is not nil.
func run(s *Subject, p *Plan, x *secrecy) (out *Outcome, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	w, err := newWorldOf(s, p, x)
	if err != nil {
		return nil, err
	}
	w.protect(func() {
		w.until(w.start + p.Chaos)
		if w.violation == nil && !w.over {
			w.finish()
		}
	})
	out = &Outcome{Plan: p, Violation: w.violation, Trace: w.hash.Sum64(), Length: w.now - w.start, Tallies: w.tally()}
	out.Played = lockstep.Time(p.Settings.Micros(int64(out.Ticks)))
	out.AllRuns = out.Played
	out.Reached = w.oracle.played()
	if w.violation != nil {
		for i := max(0, w.moments-len(w.recent)); i < w.moments; i++ {
			out.Last = append(out.Last, w.recent[i%len(w.recent)].String())
		}
	}
	return out, nil
}

// Twice makes the run of a plan twice and compares the traces. If the plan hides the state from its clients, [Apart] plays it, too.
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
		first.Violation = &Violation{Invariant: "I11", At: first.Length, Text: fmt.Sprintf("two runs of one plan have the traces %016x and %016x", first.Trace, second.Trace)}
	}
	first.AllRuns += second.AllRuns
	if first.Violation != nil || !p.hides() {
		return first, nil
	}
	x, err := Apart(p)
	if err != nil {
		return nil, err
	}
	first.Violation, first.Last = x.Violation, x.Last
	first.AllRuns += x.AllRuns
	first.Counts["messages compared"] += x.Counts["messages compared"]
	return first, nil
}

// protect turns a panic into a violation.
func (w *world) protect(f func()) {
	defer func() {
		if v := recover(); v != nil {
			w.fail("I10", "panic: %v\n%s", v, debug.Stack())
		}
	}()
	f()
}
