package locksteptest

import "github.com/seed-49bee653/samestep/lockstep"

// RunPhase is Run with one phase after the match was played.
func RunPhase(g *lockstep.Game, o Options, phase string) error {
	o.Skip = append(o.Skip, allBut(phase)...)
	return Run(g, o)
}

// PhaseNames returns the names of the phases that can be left out, in order.
func PhaseNames() []string { return allBut("") }

// Report is report.
var Report = report
