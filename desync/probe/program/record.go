package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Recording is the recording of a step that is under way.
type Recording struct {
	folder string
	sim    *lockstep.Simulation
	out    *os.File
	run    Run
	err    error // of the states of phases
}

// Record begins to record the next step of a simulation in files of a folder. n is the number of the run. yield is as in
// [probe.Start].
func Record(folder string, n int, sim *lockstep.Simulation, yield func()) (*Recording, error) {
	r := &Recording{folder: folder, sim: sim, run: Run{Trace: fmt.Sprintf("trace-%d", n), State: fmt.Sprintf("state-%d", n)}}
	var err error
	if r.out, err = os.Create(filepath.Join(folder, r.run.Trace)); err != nil {
		return nil, err
	}
	if r.run.Before, err = r.writeState("before"); err != nil {
		r.out.Close()
		return nil, err
	}
	sim.ObservePhases(func(_ lockstep.Tick, phase string, sum *checksum.Sum) {
		p := Phase{Name: phase, Hash: sum.Hash}
		if len(r.run.Phases) < maxPhaseStates && r.err == nil {
			p.State, r.err = r.writeState(fmt.Sprintf("phase-%d", len(r.run.Phases)))
		}
		r.run.Phases = append(r.run.Phases, p)
	})
	sim.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { r.run.draw(d.Purpose, d.Phase) })
	probe.Start(r.out, sim.AnyWorld(), yield)
	return r, nil
}

// maxPhaseStates is how many phases of a tick have their state in a file. Rules may mark phases in a loop.
const maxPhaseStates = 64

// writeState writes the present state to a file, and returns its name.
func (r *Recording) writeState(name string) (string, error) {
	name = fmt.Sprintf("%s-of-%s", name, r.run.State)
	return name, os.WriteFile(filepath.Join(r.folder, name), r.sim.AppendState(nil), 0o600)
}

// draw counts a draw.
func (r *Run) draw(purpose, phase string) {
	for i := range r.Draws {
		if d := &r.Draws[i]; d.Purpose == purpose && d.Phase == phase {
			d.Count++
			return
		}
	}
	r.Draws = append(r.Draws, Draws{purpose, phase, 1})
}

// cut ends the recording in the middle of the step.
func (r *Recording) cut() (Run, error) {
	count, err := probe.Stop()
	r.run.Events, r.run.Dropped, r.run.Partial, r.run.Cut = count.Events, count.Dropped, count.Partial, true
	return r.run, errors.Join(err, r.err, r.out.Close())
}

// End ends the recording. stepped is the error of the step: a panic of the rules is a result.
func (r *Recording) End(stepped error) (Run, error) {
	count, err := probe.Stop()
	r.run.Events, r.run.Dropped, r.run.Partial = count.Events, count.Dropped, count.Partial
	r.sim.ObservePhases(nil)
	r.sim.ObserveDraws(nil)
	if err = errors.Join(err, r.err, r.out.Close()); err != nil {
		return r.run, err
	}
	if stepped != nil {
		if !panicked(stepped) {
			return r.run, stepped
		}
		r.run.Panic = stepped.Error()
		return r.run, nil
	}
	r.run.Hash = r.sim.Hash()
	return r.run, os.WriteFile(filepath.Join(r.folder, r.run.State), r.sim.AppendState(nil), 0o600)
}

// panicked reports whether the rules panicked.
func panicked(err error) bool { return errors.As(err, new(*lockstep.PanicError)) }

// A History has the latest event of each probe.
type History map[int]Latest

// Step records a step of a tick, and notes its events.
func (h History) Step(tick uint32, step func() error) error {
	in, out := io.Pipe()
	done := make(chan error)
	go func() { done <- h.Add(tick, in) }()
	probe.Start(out, nil, nil)
	stepped := step()
	_, err := probe.Stop()
	out.Close()
	return errors.Join(stepped, err, <-done)
}

// Add notes the events of a recording of a tick.
func (h History) Add(tick uint32, in io.Reader) error {
	for r := probe.NewReader(in); ; {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		h[e.Site] = Latest{e.Site, tick, e.Entity, e.Value}
	}
}

// List returns the events by tick, and those of one tick in the order of the probes.
func (h History) List() (all []Latest) {
	for _, one := range h {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Latest) int { return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Site, b.Site)) })
	return all
}
