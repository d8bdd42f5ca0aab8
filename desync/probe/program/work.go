package program

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
)

// sums is a file of the state hashes of a job's ticks, which has each as soon as it is known.
type sums struct{ *os.File }

func (m *match) sums() (sums, error) {
	f, err := os.Create(filepath.Join(m.job.Folder, HashFile))
	if err != nil {
		return sums{}, err
	}
	return sums{f}, sums{f}.add(m.sim)
}

func (s sums) add(sim *lockstep.Simulation) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sim.Hash())
	_, err := s.Write(b[:])
	return err
}

// hashes steps through the log, up to its end or a panic of the rules.
func (m *match) hashes(r *Result) error {
	out, err := m.sums()
	if err != nil {
		return err
	}
	defer out.Close()
	for m.job.Tick == 0 || uint32(m.sim.Tick()) < m.job.Tick {
		f, err := m.frame()
		if err != nil {
			return err
		}
		if f == nil {
			break
		}
		if err := m.sim.Step(f); err != nil {
			r.Panic = err.Error()
			break
		}
		if err := out.add(m.sim); err != nil {
			return err
		}
	}
	return out.Close()
}

// cold compares each tick with a copy that was restored from the snapshot before it. The copy begins without anything that
// Derive makes, as in a program that has just started.
func (m *match) cold(r *Result) error {
	out, err := m.sums()
	if err != nil {
		return err
	}
	defer out.Close()
	var before []byte
	for m.job.Tick == 0 || uint32(m.sim.Tick()) < m.job.Tick {
		f, err := m.frame()
		if f == nil || err != nil {
			return err
		}
		at := m.sim.Tick()
		before = m.sim.AppendState(before[:0])
		fresh, err := m.restored(at, before)
		if panicked(err) {
			r.Panic = err.Error()
			return nil
		}
		if err != nil {
			return err
		}
		warmErr, coldErr := m.sim.Step(f), fresh.Step(f)
		if (warmErr == nil) != (coldErr == nil) || warmErr == nil && m.sim.Hash() != fresh.Hash() {
			r.Differs = uint32(at) + 1
			return nil
		}
		if warmErr != nil {
			r.Panic = warmErr.Error()
			return nil
		}
		if err := out.add(m.sim); err != nil {
			return err
		}
	}
	return out.Close()
}

// restored returns a new simulation with a state.
func (m *match) restored(t lockstep.Tick, state []byte) (*lockstep.Simulation, error) {
	s, err := m.game.AwaitState(m.head)
	if err != nil {
		return nil, err
	}
	return s, s.Restore(t, state)
}

// approach steps to the tick before that of the job, and returns the frame of that tick.
func (m *match) approach(history History) (*lockstep.Frame, error) {
	for uint32(m.sim.Tick())+1 < m.job.Tick {
		f, err := m.frame()
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, fmt.Errorf("the log ends after tick %d, before tick %d", m.sim.Tick(), m.job.Tick)
		}
		if err := m.before(f, history); err != nil {
			return nil, err
		}
	}
	f, err := m.frame()
	if err == nil && (f == nil || uint32(f.Tick) != m.job.Tick) {
		err = fmt.Errorf("the log has no tick %d", m.job.Tick)
	}
	return f, err
}

// trace records a tick.
func (m *match) trace(r *Result) error {
	history := History{}
	f, err := m.approach(history)
	if err != nil {
		return err
	}
	r.Before = history.List()
	sim, at, before := m.sim, m.sim.Tick(), m.sim.AppendState(nil)
	for r.Tried < max(m.job.Runs, 1) {
		if !m.job.Warm {
			if sim, err = m.restored(at, before); panicked(err) {
				run := Run{Before: "before", Panic: err.Error()}
				r.Tried, r.Runs = 1, append(r.Runs, run)
				return os.WriteFile(filepath.Join(m.job.Folder, run.Before), before, 0o600)
			}
			if err != nil {
				return err
			}
		}
		run, err := m.record(r, sim, f, len(r.Runs))
		if err != nil {
			return err
		}
		r.Tried++
		if len(r.Runs) == 0 || run.Hash != r.Runs[0].Hash || run.Panic != r.Runs[0].Panic {
			if r.Runs = append(r.Runs, run); len(r.Runs) == 2 {
				break
			}
		}
	}
	return nil
}

// record computes a tick, and writes its recording and its state.
func (m *match) record(r *Result, sim *lockstep.Simulation, f *lockstep.Frame, n int) (Run, error) {
	mayEnd := m.job.Events > 0 || m.job.Seconds > 0
	probe.Unbuffered = mayEnd
	open, err := Record(m.job.Folder, n, sim, m.yield())
	if err != nil {
		return Run{}, err
	}
	if mayEnd {
		if err := m.cut.record(*r, open, m.job.Seconds); err != nil {
			return Run{}, err
		}
	}
	err = sim.Step(f)
	m.cut.stop()
	return open.End(err)
}

// yield returns a function that gives way to other goroutines at every 7th event, and ends a tick of too many; or nil.
func (m *match) yield() func() {
	if !m.job.Yield && m.job.Events == 0 {
		return nil
	}
	var n atomic.Int64
	return func() {
		i := n.Add(1)
		if m.job.Yield && i%7 == 0 {
			runtime.Gosched()
		}
		if m.job.Events > 0 && i > int64(m.job.Events) {
			m.cut.end(0)
		}
	}
}

// before computes a tick before that of the job. Of the last ones it notes the assignments.
func (m *match) before(f *lockstep.Frame, history History) error {
	if !m.job.Warm || uint32(f.Tick)+uint32(m.job.Window) < m.job.Tick {
		return m.sim.Step(f)
	}
	return history.Step(uint32(f.Tick), func() error { return m.sim.Step(f) })
}
