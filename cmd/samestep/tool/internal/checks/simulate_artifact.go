//go:build !js

package checks

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/testing/simulate"
)

// playArtifact plays the failure in a file again.
func playArtifact(c *cli.Context, name string) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := simulate.ReadArtifact(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !c.IsSet("game") {
		if err := c.Set("game", a.Game); err != nil {
			return err
		}
	}
	s, err := simulateSubject(c)
	if err == nil {
		s, err = a.Of(s)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out, err := simulate.Twice(s, a.Plan)
	if err != nil {
		return err
	}
	result := "no invariant is violated"
	if out.Violation != nil {
		result, err = fmt.Sprint(out.Violation), console.ErrViolated
	}
	return gameset.Tell(c, map[string]any{"artifact": name, "trace": fmt.Sprintf("%016x", out.Trace), "violation": out.Violation, "last": out.Last}, func(w io.Writer) {
		printPlan(w, a.Plan)
		for _, line := range out.Last {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "trace %016x\n%s\n", out.Trace, result)
	}, err)
}

// printPlan prints the faults of a plan.
func printPlan(w io.Writer, p *simulate.Plan) {
	present := 0
	for i := range p.Machines {
		if !p.Machines[i].Absent {
			present++
		}
	}
	fmt.Fprintf(w, "seed %d, %s, %s:\n", p.Seed, console.Count(present, "client"), console.Count(len(p.Faults), "fault"))
	for _, f := range p.Faults {
		fmt.Fprintf(w, "%10.6f s  %s of client %d for %.3f s (%d)\n", float64(f.At)/1e6, f.Kind, f.Who, float64(f.For)/1e6, f.N)
	}
}
