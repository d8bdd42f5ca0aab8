package locksteptest

import (
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// checkTraced is Check in a program with probes. It does the job, if that is the check that has failed, and skips the rest of the
// test.
func checkTraced(t testing.TB, j *program.CheckJob, g *lockstep.Game, o Options) {
	t.Helper()
	o.Seed = j.Seed // a test may take another one each time
	if j.Options != "" && checkName(g, o) != j.Options {
		return
	}
	var result any
	if j.Phase == outsidePhase && j.Tick == 0 {
		result = checkOutside(g, o)
	} else {
		result = traceCheck(j, g, o)
	}
	if err := program.WriteJSON(filepath.Join(j.Folder, program.ResultFile), result); err != nil {
		t.Fatal(err)
	}
	t.SkipNow()
}

const traceTries = 4 // of a match that fails in another way each time

// traceCheck plays the match until it fails, with a recording of the tick at which it did so before.
func traceCheck(j *program.CheckJob, g *lockstep.Game, o Options) *program.Result {
	want := *j
	var last *match
	for range traceTries {
		o.Skip = allBut(want.Phase)
		var m *match
		o, err := o.measured(g, longest, nil)
		if err == nil {
			m, err = newMatch(g, o)
		}
		if err == nil {
			m.alone = true
			m.tracer = &tracer{job: want, history: program.History{}}
			err = m.compute()
		}
		if m != nil && m.tracer.differ() {
			return m.tracer.result(g, m.header, want)
		}
		if f, ok := err.(*Failure); ok && f.Tick > 0 && m != nil {
			if f.Phase == want.Phase && uint32(f.From) == want.From && uint32(f.Tick) == want.Tick {
				if r := m.tracer; f.Phase == PanicPhase && r.have[0] && r.runs[0].Panic != "" {
					r.runs[1] = r.runs[0] // nothing was computed again
					return r.result(m.game, m.header, want)
				}
				return &program.Result{Error: "the difference does not arise in Step"}
			}
			last, want.Phase, want.From, want.Tick = m, f.Phase, uint32(f.From), uint32(f.Tick)
		}
	}
	if last != nil {
		if r := last.traceAgain(want); r != nil {
			return r
		}
	}
	return &program.Result{Error: "the match does not fail again"}
}

const traceRuns = 64 // of a tick whose result is random

// traceAgain computes one tick again and again until it has two results, or returns nil.
func (m *match) traceAgain(want program.CheckJob) *program.Result {
	t := lockstep.Tick(want.Tick)
	if int(t) > len(m.frames) || int(t) > len(m.states) {
		return nil
	}
	r := &tracer{job: want}
	r.job.Phase = ""
	for n := range traceRuns {
		sim, err := m.game.AwaitState(m.header)
		if err != nil || sim.Restore(t-1, m.states[t-1]) != nil {
			return nil
		}
		r.index = min(n, 1)
		if r.open, err = program.Record(want.Folder, r.index, sim, nil); err != nil {
			return nil
		}
		r.end(sim.Step(&m.frames[t-1]))
		if r.differ() {
			return r.result(m.game, m.header, want)
		}
	}
	return nil
}
