package locksteptest

import "github.com/seed-49bee653/samestep/lockstep"

// RunPhase is Run with one phase after the match was played.
func RunPhase(g *lockstep.Game, o Options, phase string) error {
	for _, p := range phases {
		if p.name != phase {
			o.Skip = append(o.Skip, p.name)
		}
	}
	return Run(g, o)
}

// PhaseNames returns the names of the phases that can be left out, in order.
func PhaseNames() (names []string) {
	for _, p := range phases {
		names = append(names, p.name)
	}
	return names
}

// Report is report.
var Report = report
