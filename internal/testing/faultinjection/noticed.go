package faultinjection

import (
	"bytes"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Rerun simulates the ticks of frames from a state of tick from, the one before them, or up to the one in which the rules end
// the match. It returns the states after each.
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
		states = append(states, sim.AppendState(nil))
		if _, over := sim.Ended(); over {
			break
		}
	}
	return states, nil
}

// Noticed reports whether a fault is one to plant: the states with it differ from the right ones after the first tick, and after
// the last, where the check is. What follows from a fault may be undone before.
func Noticed(right, faulty [][]byte) bool {
	last := len(right) - 1
	return len(faulty) == len(right) && !bytes.Equal(right[0], faulty[0]) && !bytes.Equal(right[last], faulty[last])
}
