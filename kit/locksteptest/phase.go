package locksteptest

import (
	"fmt"
	"slices"
)

// A phase computes the match again in its own way.
type phase struct {
	name string
	run  func(*trial)
}

// phases are those that run after the match was played, in order.
var phases = []phase{
	{coldTwinPhase, (*trial).coldTwin},
	{"restore", (*trial).restore},
	{"late join", (*trial).join},
	{"copy", (*trial).copies},
	{"redo", (*trial).redo},
	{"refused", (*trial).refused},
	{"derived", (*trial).derived},
	{"fields", (*trial).fields},
	{"round trip", (*trial).roundTrip},
	{"machine", (*trial).machine},
	{"reading", (*trial).reading},
	{"views", (*trial).views},
	{"answers", (*trial).answers},
	{outsidePhase, (*trial).outside},
}

// compute plays the match and runs all phases.
func (m *match) compute() error {
	if err := m.play(); err != nil {
		return err
	}
	for _, p := range phases {
		if slices.Contains(m.options.Skip, p.name) {
			continue
		}
		if err := m.try(p); err != nil {
			return err
		}
	}
	return nil
}

// checkSkip returns an error unless all names are names of phases.
func checkSkip(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(phases, func(p phase) bool { return p.name == name }) {
			return fmt.Errorf("locksteptest: options: got %q in Skip, want one of %q", name, allBut(""))
		}
	}
	return nil
}

// allBut returns the names of all phases but one.
func allBut(phase string) (names []string) {
	for _, p := range phases {
		if p.name != phase {
			names = append(names, p.name)
		}
	}
	return names
}
