package faultinjection

import (
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/internal/words"
)

// WriteText writes a line for each fault, and below it one for each tool.
func (r *Result) WriteText(w io.Writer) {
	if r.Runs > 0 {
		fmt.Fprintf(w, "without a fault: %d simulations of the match agree\n", r.Runs)
	}
	fault := ""
	for _, row := range r.Rows {
		if row.Fault != fault {
			fault = row.Fault
			fmt.Fprintf(w, "%s: %s\n", fault, row.Planted)
		}
		verdict := "right"
		if !row.Right {
			verdict = "WRONG, want " + row.Want
		}
		fmt.Fprintf(w, "  %-14s %-64s %s\n", row.Tool, row.Found, verdict)
	}
	for _, u := range r.Unplanted {
		fmt.Fprintf(w, "not planted: %s: %s\n", u.Fault, u.Why)
	}
	if f := &r.RuleBugs; f.Faults > 0 {
		fmt.Fprintf(w, "rule bugs: %d planted, right tick %d, right field first %d, false cause %d; computed again: exact tick %d of %d\n",
			f.Faults, f.Tick, f.Field, f.False, f.Exact, f.Asked)
	}
	if f := &r.CommandFaults; f.Faults > 0 {
		fmt.Fprintf(w, "command faults: %d planted, right tick %d, right cause %d\n", f.Faults, f.Tick, f.Cause)
	}
	fmt.Fprintf(w, "verdict: %d of %s right, %s not planted\n", len(r.Rows)-r.Wrong, words.Count(len(r.Rows), "answer"), words.Count(len(r.Unplanted), "fault"))
}
