//go:build !js

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/testing/simulate"
)

// reducing is how long all failures are reduced together, unless --shrink is given.
const reducing = 2 * time.Minute

// keepFailures reduces failures and writes each to a file.
func (s *simulated) keepFailures(ctx context.Context, c *cli.Context, subject *simulate.Subject, all []*simulate.Outcome) {
	if !c.IsSet("shrink") {
		limited, stop := context.WithTimeout(ctx, reducing)
		defer stop()
		ctx = limited
	}
	for i, out := range all {
		v := &s.Violations[i]
		if c.Int("shrink") > 0 && ctx.Err() == nil {
			fmt.Fprintf(c.App.ErrWriter, "seed %d violates %s, and is reduced with at most %s\n", v.Seed, v.Invariant, count(c.Int("shrink"), "match"))
		}
		if err := v.keep(ctx, c, subject, out); err != nil {
			v.Unwritten = err.Error() // the report is printed all the same
		}
	}
}

// keep reduces a failure and writes it to a file.
func (v *simulatedFail) keep(ctx context.Context, c *cli.Context, s *simulate.Subject, out *simulate.Outcome) error {
	bar := newProgress(c.App.ErrWriter, int64(c.Int("shrink")), "matches")
	small, err := simulate.Shrink(s, out, simulate.ShrinkOptions{Runs: c.Int("shrink"), Stop: ctx.Done(), Progress: func(n int) { bar.set(int64(n)) }})
	bar.done()
	if err != nil {
		return err
	}
	if v.Tried = small.Runs; !small.Whole {
		v.Stopped = "--shrink"
		if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			v.Stopped = fmt.Sprintf("%s for all failures; --shrink takes longer", seconds(reducing))
		} else if err != nil {
			v.Stopped = "interrupted"
		}
	}
	a, err := simulate.NewArtifact(s, small.Outcome)
	if err != nil {
		return err
	}
	name := filepath.Join(c.String("dir"), fmt.Sprintf("simulation-%d.json", out.Plan.Seed))
	if err := files.Replace(name, func(f *os.File) error { return a.Write(f) }); err != nil {
		return err
	}
	v.Artifact = name
	return nil
}

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
		result, err = fmt.Sprint(out.Violation), errViolated
	}
	return tell(c, map[string]any{"artifact": name, "trace": fmt.Sprintf("%016x", out.Trace), "violation": out.Violation, "last": out.Last}, func(w io.Writer) {
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
	fmt.Fprintf(w, "seed %d, %s, %s:\n", p.Seed, count(present, "client"), count(len(p.Faults), "fault"))
	for _, f := range p.Faults {
		fmt.Fprintf(w, "%10.6f s  %s of client %d for %.3f s (%d)\n", float64(f.At)/1e6, f.Kind, f.Who, float64(f.For)/1e6, f.N)
	}
}
