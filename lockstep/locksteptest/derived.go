package locksteptest

import "github.com/seed-49bee653/samestep/lockstep"

// derived changes one simulation to and fro between this match and another one of the game, whose derived fields are
// still there when a state is restored. (That a machine which never had any gets on as well is the phase "late join".)
func (m *match) derived() error {
	sim, err := m.otherMatch()
	if err != nil {
		return err
	}
	var other []byte
	for t := lockstep.Tick(0); t < m.options.Ticks; t += m.options.Every {
		other = sim.AppendState(other[:0])
		if err := sim.Restore(t, m.states[t]); err != nil {
			return m.fail("derived", t, t, err)
		}
		if err := m.goOn("derived", t, t+m.options.Span, sim, sim.Step); err != nil {
			return err
		}
		if err := sim.Restore(t, other); err != nil {
			return m.fail("derived", t, t, err)
		}
		for i := t; i < min(t+m.options.Every, m.options.Ticks); i++ {
			if err := sim.Step(&m.frames[i]); err != nil {
				return m.fail("derived", t, i+1, err)
			}
		}
	}
	return nil
}

// otherMatch returns a simulation of a match that differs from this one by its seed. If the game refuses a few other
// seeds, it is that of the same match.
func (m *match) otherMatch() (*lockstep.Simulation, error) {
	header := *m.header
	for range 8 {
		header.Settings.Seed++
		if sim, err := m.game.NewSimulation(&header); err == nil {
			return sim, nil
		}
	}
	sim, err := m.game.NewSimulation(m.header)
	if err != nil {
		return nil, m.fail("derived", 0, 0, err)
	}
	return sim, nil
}
