package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep/determinism"
)

// errFindings ends a vet that has found something.
var errFindings = errors.New("the simulation may differ between machines")

func vetCommand() *cli.Command {
	return &cli.Command{
		Name:      "vet",
		Usage:     "look in a game's code for what may differ between machines",
		ArgsUsage: "[PACKAGES]",
		Description: `Looks at the functions that a game gives to lockstep.Rules, at those with the
comment //samestep:deterministic, and at all that they call. PACKAGES are as for
the go command, which must be there; without them it is ./... . Exits with 1 if
there are findings. As a vettool it runs beside the analyzers of the go command:

  go vet -vettool=$(which samestep) ./...`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "all", Usage: "check every function, whether a simulation calls it or not"},
		},
		OnUsageError: usageError,
		Action:       vet,
	}
}

func vet(c *cli.Context) error {
	patterns := c.Args().Slice()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	looked := 0
	found, err := determinism.Vet(determinism.Options{All: c.Bool("all"), Looked: func(n int) { looked = n }}, patterns...)
	if err != nil {
		return err
	}
	if looked == 0 {
		fmt.Fprintln(c.App.ErrWriter, "samestep: nothing was looked at: no functions are given to lockstep.Rules here, and none has the comment //samestep:deterministic")
	}
	if dir, err := os.Getwd(); err == nil {
		for i := range found {
			if rel, err := filepath.Rel(dir, found[i].File); err == nil && !strings.HasPrefix(rel, "..") {
				found[i].File = rel
			}
		}
	}
	if c.Bool("json") {
		list := append([]determinism.Finding{}, found...) // [], not null
		err = writeJSON(c.App.Writer, map[string]any{"findings": list, "functions": looked})
	} else {
		for _, f := range found {
			fmt.Fprintln(c.App.Writer, f)
		}
	}
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s: %w", count(len(found), "finding"), errFindings)
	}
	return err
}

// isVetTool reports whether the go command calls, as "go vet -vettool" does: to ask for the version or the flags, or with
// the description of one package.
func isVetTool(args []string) bool {
	if len(args) < 2 {
		return false
	}
	return args[1] == "-V=full" || args[1] == "-flags" || filepath.Base(args[len(args)-1]) == "vet.cfg"
}
