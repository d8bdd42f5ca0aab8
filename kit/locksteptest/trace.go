package locksteptest

import (
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A tracer records one tick in the match and in one of the ways in which it is computed again, and the tick before, if that was
// computed again in the same way and came out equal. The rules have probes then: the program is one that package desync/line
// has built.
type tracer struct {
	job     program.CheckJob
	runs    [4]program.Run // of the match and of the other computation, and of the tick before
	have    [4]bool
	history program.History // of the ticks before, in the match
	open    *program.Recording
	index   int // of the open recording
	err     error
}

// traceWindow is how many ticks before the tick are searched for the assignment that a stale value should have had.
const traceWindow = 200

// wanted returns the index of the recording of a step to tick t, or -1.
func (r *tracer) wanted(phase string, from, t lockstep.Tick) int {
	twin := r.job.Phase == coldTwinPhase && r.job.From+1 == r.job.Tick // a computation for each tick
	switch {
	case phase == "" && uint32(t) == r.job.Tick:
		return 0
	case phase == r.job.Phase && uint32(from) == r.job.From && uint32(t) == r.job.Tick:
		return 1
	case twin && phase == "" && uint32(t) == r.job.From:
		return 2
	case twin && phase == r.job.Phase && uint32(t) == r.job.From:
		return 3
	}
	return -1
}

// step does a step of a simulation to tick t, and records it if it is one of those.
func (r *tracer) step(phase string, from, t lockstep.Tick, sim *lockstep.Simulation, step func() error) error {
	if phase != eachPhase {
		sim.Schedule(1, nil) // goroutines would mix their events
	}
	index := r.wanted(phase, from, t)
	if index < 0 {
		if phase == "" && uint32(t) < r.job.Tick && uint32(t)+traceWindow >= r.job.Tick {
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
	if index == 2 && r.err == nil {
		r.err = r.remember(uint32(t))
	}
	return err
}

// remember takes the recorded tick before into the history.
func (r *tracer) remember(t uint32) error {
	f, err := os.Open(filepath.Join(r.job.Folder, r.runs[2].Trace))
	if err != nil {
		return err
	}
	defer f.Close()
	return r.history.Add(t, f)
}

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

func (r *tracer) result(g *lockstep.Game, h *lockstep.Header, done program.CheckJob) *program.Result {
	var equal []program.Run
	if r.have[2] && r.have[3] && r.runs[2].Hash == r.runs[3].Hash {
		equal = r.runs[2:]
	}
	return &program.Result{
		Platform: lockstep.Platform(), Build: g.Build(), Phase: done.Phase, From: done.From, Tick: done.Tick, Schema: h.StateSchema,
		Runs: r.runs[:2], Equal: equal, Before: r.history.List(), Tried: 1,
	}
}
