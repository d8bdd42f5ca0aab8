package stepper

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
)

// commands computes the tick with none of its commands, with the first one, with the first two, and so on, each time from the
// state before it. It returns the state after the tick with all commands, or nil after a panic.
func (w *stepWork) commands() (after []byte, err error) {
	x, all := w.x, w.x.frame.Commands
	sim, err := w.game.AwaitState(w.header)
	if err != nil {
		return nil, err
	}
	n := min(len(all), w.o.Commands)
	last, failed := []byte(nil), ""
	if n > 0 || len(all) == 0 {
		if last, failed, err = w.without(sim, 0); err != nil {
			return nil, err
		}
	}
	for i := range n {
		c := Command{Command: desync.Command{Tick: x.Tick, Player: all[i].Player, Sequence: all[i].Sequence, Text: words.Clipped(x.words.Describe(&all[i]), desync.MaxText)}, Did: noChanges()}
		if c.Refused, err = w.refused(sim, &all[i]); err != nil {
			return nil, err
		}
		now, panicked, err := w.without(sim, i+1)
		if err != nil {
			return nil, err
		}
		if c.Panic = panicked; panicked == "" && failed == "" {
			if c.Did, err = w.part(last, now); err != nil {
				return nil, err
			}
		}
		x.Commands = append(x.Commands, c)
		last, failed = now, panicked
	}
	if x.More = len(all) - n; x.More == 0 {
		return last, nil
	}
	after, panicked, err := w.without(sim, len(all))
	if err != nil || n == 0 || failed != "" || panicked != "" {
		return after, err
	}
	did, err := w.part(last, after)
	x.MoreDid = &did
	return after, err
}

// without computes the tick with its first n commands only. After a panic of the rules, the state is nil.
func (w *stepWork) without(sim *lockstep.Simulation, n int) (after []byte, panicked string, err error) {
	if err := sim.Restore(w.x.Tick-1, w.x.before); err != nil {
		return nil, "", err
	}
	err = sim.Step(&lockstep.Frame{Tick: w.x.Tick, Commands: w.x.frame.Commands[:n], Asked: w.x.frame.Asked})
	switch {
	case errors.As(err, new(*lockstep.PanicError)):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", fmt.Errorf("desync: %w", err)
	}
	return sim.AppendState(nil), "", nil
}

// refused returns why the rules refuse a command in the state before the tick, or "". They are asked only about commands of
// players.
func (w *stepWork) refused(sim *lockstep.Simulation, c *lockstep.Command) (string, error) {
	if c.Player == lockstep.System {
		return "", nil
	}
	if err := sim.Restore(w.x.Tick-1, w.x.before); err != nil {
		return "", err
	}
	own := *c
	if err := w.game.NewPayloads().Decode(&own); err != nil {
		return "", err
	}
	if err := sim.Validate(&own); err != nil && !(w.x.frame.Asked && errors.As(err, new(*lockstep.PanicError))) {
		return words.Clipped(err.Error(), desync.MaxText), nil
	}
	return "", nil
}
