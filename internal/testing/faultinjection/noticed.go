package faultinjection

import (
	"bytes"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Rerun simulates the ticks of frames from a state of tick from, the one before them. It returns the states after each, and an
// error if the rules end the match before the last.
func Rerun(g *lockstep.Game, h *lockstep.Header, from lockstep.Tick, state []byte, frames []lockstep.Frame) (states [][]byte, err error) {
	sim, err := g.NewSimulation(h)
	if err != nil {
		return nil, err
	}
	if err := sim.Restore(from, state); err != nil {
		return nil, err
	}
	for i := range frames {
		if err := sim.Step(&frames[i]); err != nil {
			return nil, err
		}
		if _, over := sim.Ended(); over && i < len(frames)-1 {
			return nil, &endedError{frames[i].Tick}
		}
		states = append(states, sim.AppendState(nil))
	}
	return states, nil
}

// Noticed reports whether a fault is one to plant: the states with it differ from the right ones after the first tick, and after
// the last, where the check is. What follows from a fault may be undone before.
func Noticed(right, faulty [][]byte) bool {
	last := len(right) - 1
	return !bytes.Equal(right[0], faulty[0]) && !bytes.Equal(right[last], faulty[last])
}
