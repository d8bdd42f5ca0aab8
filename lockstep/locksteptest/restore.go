package locksteptest

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// restore restores saved states into a simulation that has gone on, and simulates from there.
func (m *match) restore() error {
	sim, err := m.game.NewSimulation(m.header)
	if err != nil {
		return m.fail("restore", 0, 0, err)
	}
	for t := lockstep.Tick(0); t < m.options.Ticks; t += m.options.Every {
		if err := sim.Restore(t, m.states[t]); err != nil {
			return m.fail("restore", t, t, err)
		}
		if err := m.goOn("restore", t, t+m.options.Span, sim, sim.Step); err != nil {
			return err
		}
	}
	return nil
}

// copies copies states into a simulation that has gone on, and simulates both from there.
func (m *match) copies() error {
	live, sim, err := m.twoSimulations("copy")
	if err != nil {
		return err
	}
	for t := lockstep.Tick(0); t < m.options.Ticks; t += m.options.Every {
		if err := sim.CopyFrom(live); err != nil {
			return m.fail("copy", t, t, err)
		}
		if err := m.goOn("copy", t, t+m.options.Span, sim, sim.Step); err != nil {
			return err
		}
		if err := m.compare("copy", t, live, m.states[t]); err != nil {
			return err
		}
		for next := t; next < min(t+m.options.Every, m.options.Ticks); next++ {
			if err := live.Step(&m.frames[next]); err != nil {
				return m.fail("copy", t, next+1, err)
			}
		}
	}
	return nil
}

// join follows the match on a new machine, from a saved state and the log's records after it.
func (m *match) join() error {
	sums, err := m.game.NewSimulation(m.header)
	if err != nil {
		return m.fail("late join", 0, 0, err)
	}
	var last []record.LastSequence
	var places record.Encoder // where the log is at each tick
	places.Header(m.header)
	places.Keyframe(0, 0, nil, nil)
	done := lockstep.Tick(0)
	for t := lockstep.Tick(0); t < m.options.Ticks; t += m.options.Every {
		for ; done < t; done++ {
			places.Frame(&m.frames[done])
		}
		last = places.AppendLast(last[:0])
		f := m.game.NewFollower(lockstep.FollowerOptions{})
		var enc record.Encoder
		err := f.Append(enc.Header(m.header))
		if err == nil {
			err = sums.Restore(t, m.states[t])
		}
		if err == nil {
			err = f.Append(enc.Keyframe(t, sums.Hash(), last, m.states[t]))
		}
		if err != nil {
			return m.fail("late join", t, t, err)
		}
		next := func(frame *lockstep.Frame) error { return f.Append(enc.Frame(frame)) }
		if err := m.goOn("late join", t, t+m.options.Span, f.Simulation(), next); err != nil {
			return err
		}
	}
	return nil
}

// goOn gives the frames after tick from, up to tick to, to next, and compares the state with the match's after each,
// and what the game says of the commands that came then.
func (m *match) goOn(phase string, from, to lockstep.Tick, sim *lockstep.Simulation, next func(*lockstep.Frame) error) error {
	if err := m.compare(phase, from, sim, m.states[from]); err != nil {
		return err
	}
	for t := from + 1; t <= min(to, m.options.Ticks); t++ {
		if err := m.judge(phase, from, sim); err != nil {
			return err
		}
		if err := next(&m.frames[t-1]); err != nil {
			return m.fail(phase, from, t, err)
		}
		if err := m.compare(phase, from, sim, m.states[t]); err != nil {
			return err
		}
	}
	return nil
}
