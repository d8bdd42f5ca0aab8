package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
)

// errDrill ends a drill in which a tool was wrong.
var errDrill = errors.New("not every fault was named rightly")

func drillCommand() *cli.Command {
	return &cli.Command{
		Name:  "drill",
		Usage: "plant faults in a match, and see whether the tools name them",
		Description: `Plays a match of the example game again and again, each time with another fault:
a flipped bit, a dropped command, a draw too many, a wrong entry in a table, a
file that is cut or edited, … The tools must name the tick, the field and the
player, the byte of a file, and find nothing where nothing was planted. What is
right is known from where the fault was planted. Exits with 0 only if all tools
were right.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the match, and of where the faults are"},
		},
		OnUsageError: usageError,
		Action:       runDrill,
	}
}

func runDrill(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("drill: unexpected argument %q", c.Args().First())
	}
	var bar *progress
	result, err := faultinjection.Run(faultinjection.Options{Seed: c.Uint64("seed"), Progress: func(done, all int) {
		if bar == nil {
			bar = newProgress(c.App.ErrWriter, int64(all), "faults")
		}
		bar.set(int64(done))
	}})
	if bar != nil {
		bar.done()
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = writeJSON(c.App.Writer, result)
	} else {
		err = printDrill(c.App.Writer, result)
	}
	if err == nil && result.Wrong > 0 {
		err = fmt.Errorf("%d of %s wrong: %w", result.Wrong, count(len(result.Rows), "answer"), errDrill)
	}
	return err
}

// printDrill prints a line for each fault, and below it one for each tool.
func printDrill(w io.Writer, r *faultinjection.Result) error {
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
	_, err := fmt.Fprintf(w, "verdict: %d of %s right\n", len(r.Rows)-r.Wrong, count(len(r.Rows), "answer"))
	return err
}
