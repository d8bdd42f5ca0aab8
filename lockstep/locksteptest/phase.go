package locksteptest

import (
	"fmt"
	"slices"
)

// A phase computes the match again in its own way, and returns a [*Failure] where that differs. It works on saved
// states of every so many ticks.
type phase struct {
	name string
	run  func(*match) error
}

// phases are those that follow after the match was played, in their order.
var phases = []phase{
	{"restore", (*match).restore},
	{"late join", (*match).join},
	{"copy", (*match).copies},
	{"redo", (*match).redo},
	{"refused", (*match).refused},
	{"derived", (*match).derived},
	{"fields", (*match).fields},
	{"round trip", (*match).roundTrip},
	{"machine", (*match).machine},
	{"reading", (*match).reading},
}

// checkSkip returns an error unless all names are those of phases that can be left out.
func checkSkip(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(phases, func(p phase) bool { return p.name == name }) {
			var all []string
			for _, p := range phases {
				all = append(all, p.name)
			}
			return fmt.Errorf("locksteptest: options: got %q in Skip, want one of %q", name, all)
		}
	}
	return nil
}
