package locksteptest

import (
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// reading computes the match while somebody looks at it in every way that there is: events, pictures, words and dumps.
func (m *match) reading() error {
	current, previous, err := m.twoSimulations("reading")
	if err != nil {
		return err
	}
	words, err := lockstep.NewDescriber(m.header, m.game)
	if err != nil {
		return m.fail("reading", 0, 0, err)
	}
	current.Observe(func(lockstep.Tick, any) {})
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		look := t%m.options.Every == 0
		if look {
			if err := previous.CopyFrom(current); err != nil {
				return m.fail("reading", 0, t, err)
			}
		}
		if err := current.Step(&m.frames[t-1]); err != nil {
			return m.fail("reading", 0, t, err)
		}
		if err := m.compare("reading", 0, current, m.states[t]); err != nil {
			return err
		}
		if !look {
			continue
		}
		if err := m.look(words, previous, current); err != nil {
			return err
		}
	}
	return nil
}

// look reads two states one tick apart, and compares them with what they were.
func (m *match) look(words *lockstep.Describer, previous, current *lockstep.Simulation) error {
	t := current.Tick()
	for i := range m.frames[t-1].Commands {
		words.Describe(&m.frames[t-1].Commands[i])
	}
	if m.options.Render != nil {
		for _, f := range [...]player.Fraction{0, player.One / 3, player.One} {
			m.options.Render(player.View{Previous: previous, Current: current, Fraction: f})
		}
	}
	if err := m.compare("reading", 0, previous, m.states[t-1]); err != nil {
		return err
	}
	if err := m.compare("reading", 0, current, m.states[t]); err != nil {
		return err
	}
	schema := m.game.StateSchema()
	if err := schema.Dump(io.Discard, m.states[t]); err != nil {
		return m.fail("reading", 0, t, err)
	}
	if err := schema.DumpJSON(io.Discard, m.states[t]); err != nil {
		return m.fail("reading", 0, t, err)
	}
	return nil
}
