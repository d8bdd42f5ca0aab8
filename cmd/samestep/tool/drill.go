package tool

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
)

var errDrill = errors.New("not every fault was named correctly")

func drillCommand() *cli.Command {
	return &cli.Command{
		Name:  "drill",
		Usage: "plant faults in a match, and check that the tools name them",
		Description: `Plays a match of the example game again and again, each time with another fault: a
flipped bit, a dropped command, one more draw from a random generator, a wrong entry
in a table, a file that is cut or edited, … The tools must name the tick, the field
and the player, or the byte of a file, and must find nothing in a match without a
fault. The right answers come from where the faults were planted. Exits with 0 only
if all tools were right.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the match, and of the places of the faults"},
		},
		Action: runDrill,
	}
}

func runDrill(c *cli.Context) error {
	bar := newProgress(c.App.ErrWriter, 0, "faults")
	result, err := faultinjection.Run(faultinjection.Options{
		Seed: c.Uint64("seed"), Progress: func(done, all int) { bar.setOf(int64(done), int64(all)) },
	})
	bar.done()
	if err != nil {
		return err
	}
	if result.Wrong > 0 {
		err = fmt.Errorf("%d of %s wrong: %w", result.Wrong, count(len(result.Rows), "answer"), errDrill)
	}
	return tell(c, result, func(w io.Writer) { printDrill(w, result) }, err)
}

// printDrill prints a line for each fault, and below it one for each tool.
func printDrill(w io.Writer, r *faultinjection.Result) {
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
	fmt.Fprintf(w, "verdict: %d of %s right\n", len(r.Rows)-r.Wrong, count(len(r.Rows), "answer"))
}
