package locksteptest

import (
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A tracer records one tick in the match and in one of the ways in which it is computed again. The rules have probes then: the
// program is one that package internal/line has built.
type tracer struct {
	job     program.CheckJob
	runs    [2]program.Run
	have    [2]bool
	history program.History // of the ticks before, in the match
	open    *program.Recording
	index   int // of the open recording
	err     error
}

// traceWindow is how many ticks before the tick are searched for the assignment that a stale value should have had.
const traceWindow = 200

// step does a step of a simulation to tick t, and records it if it is one of the two.
func (r *tracer) step(phase string, from, t lockstep.Tick, sim *lockstep.Simulation, step func() error) error {
	index := 0
	switch {
	case phase == r.job.Phase && uint32(from) == r.job.From:
		index = 1
	case phase != "":
		return step()
	}
	if uint32(t) != r.job.Tick {
		if index == 0 && uint32(t) < r.job.Tick && uint32(t)+traceWindow >= r.job.Tick {
			return r.history.Step(uint32(t), step)
		}
		return step()
	}
	open, err := program.Record(r.job.Folder, index, sim, nil)
	if err != nil {
		r.err = err
		return step()
	}
	r.open, r.index = open, index
	err = step()
	if r.open == open {
		r.end(err)
	}
	return err
}

// end ends the open recording.
func (r *tracer) end(stepped error) {
	run, err := r.open.End(stepped)
	r.open = nil
	if err != nil {
		r.err = err
		return
	}
	r.runs[r.index], r.have[r.index] = run, true
}

// differ reports whether both computations were recorded, and have other results.
func (r *tracer) differ() bool {
	return r.err == nil && r.have[0] && r.have[1] && (r.runs[0].Hash != r.runs[1].Hash || r.runs[0].Panic != r.runs[1].Panic)
}

// result returns the result of the job.
func (r *tracer) result(g *lockstep.Game, h *lockstep.Header, done program.CheckJob) *program.Result {
	return &program.Result{
		Platform: lockstep.Platform(), Build: g.Build(), Phase: done.Phase, From: done.From, Tick: done.Tick, Schema: h.StateSchema,
		Runs: r.runs[:], Before: r.history.List(), Tried: 1,
	}
}
