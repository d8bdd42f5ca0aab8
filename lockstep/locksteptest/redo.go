package locksteptest

import "github.com/seed-49bee653/samestep/lockstep"

// redo predicts some ticks on a copy, as a client does that does not have the other players' commands yet, and then
// computes them again with all commands.
func (m *match) redo() error {
	confirmed, predicted, err := m.twoSimulations("redo")
	if err != nil {
		return err
	}
	for t := lockstep.Tick(0); t < m.options.Ticks; t += m.options.Every {
		end := min(t+m.options.Redo, m.options.Ticks)
		if err := predicted.CopyFrom(confirmed); err != nil {
			return m.fail("redo", t, t, err)
		}
		player := lockstep.System // predicts nothing
		if turn := t / m.options.Every; turn%2 == 0 {
			player = lockstep.Player(turn / 2 % lockstep.Tick(m.options.Players))
		}
		for i := t; i < end; i++ {
			if err := predicted.Step(foreseen(&m.frames[i], player)); err != nil {
				return m.fail("redo", t, i+1, err)
			}
		}
		if err := m.compare("redo", t, confirmed, m.states[t]); err != nil {
			return err
		}
		if err := predicted.CopyFrom(confirmed); err != nil {
			return m.fail("redo", t, t, err)
		}
		if err := m.goOn("redo", t, end, predicted, predicted.Step); err != nil {
			return err
		}
		for i := t; i < min(t+m.options.Every, m.options.Ticks); i++ {
			if err := confirmed.Step(&m.frames[i]); err != nil {
				return m.fail("redo", t, i+1, err)
			}
		}
	}
	return nil
}

// foreseen returns what a player knows of a frame before it arrives: the own commands.
func foreseen(f *lockstep.Frame, p lockstep.Player) *lockstep.Frame {
	own := &lockstep.Frame{Tick: f.Tick}
	for _, c := range f.Commands {
		if c.Player == p && p != lockstep.System {
			own.Commands = append(own.Commands, c)
		}
	}
	return own
}

// twoSimulations returns two simulations of the match at tick 0.
func (m *match) twoSimulations(phase string) (a, b *lockstep.Simulation, err error) {
	if a, err = m.game.NewSimulation(m.header); err == nil {
		b, err = m.game.NewSimulation(m.header)
	}
	if err != nil {
		return nil, nil, m.fail(phase, 0, 0, err)
	}
	return a, b, nil
}
