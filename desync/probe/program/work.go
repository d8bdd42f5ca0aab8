package program

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/seed-49bee653/samestep/lockstep"
)

// hashes steps through the log. A panic of the rules ends it like the end of the log.
func (m *match) hashes(*Result) error {
	b := binary.LittleEndian.AppendUint64(nil, m.sim.Hash())
	for m.job.Tick == 0 || uint32(m.sim.Tick()) < m.job.Tick {
		f, err := m.frame()
		if err != nil {
			return err
		}
		if f == nil || m.sim.Step(f) != nil {
			break
		}
		b = binary.LittleEndian.AppendUint64(b, m.sim.Hash())
	}
	return os.WriteFile(filepath.Join(m.job.Folder, HashFile), b, 0o600)
}

// cold compares each tick with a copy that was restored from the snapshot before it. The copy begins without anything that
// Derive makes, as in a program that has just started.
func (m *match) cold(r *Result) error {
	var before []byte
	for m.job.Tick == 0 || uint32(m.sim.Tick()) < m.job.Tick {
		f, err := m.frame()
		if f == nil || err != nil {
			return err
		}
		at := m.sim.Tick()
		before = m.sim.AppendState(before[:0])
		fresh, err := m.restored(at, before)
		if err != nil {
			return err
		}
		warmErr, coldErr := m.sim.Step(f), fresh.Step(f)
		if (warmErr == nil) != (coldErr == nil) || warmErr == nil && m.sim.Hash() != fresh.Hash() {
			r.Differs = uint32(at) + 1
			return nil
		}
		if warmErr != nil {
			return nil
		}
	}
	return nil
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
			if sim, err = m.restored(at, before); err != nil {
				return err
			}
		}
		run, err := m.record(sim, f, len(r.Runs))
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
func (m *match) record(sim *lockstep.Simulation, f *lockstep.Frame, n int) (Run, error) {
	r, err := Record(m.job.Folder, n, sim, m.yield())
	if err != nil {
		return Run{}, err
	}
	return r.End(sim.Step(f))
}

// yield returns a function that gives way to other goroutines at every 7th event, or nil.
func (m *match) yield() func() {
	if !m.job.Yield {
		return nil
	}
	var n atomic.Uint64
	return func() {
		if n.Add(1)%7 == 0 {
			runtime.Gosched()
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
