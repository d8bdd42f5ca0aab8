//go:build !js

package checks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/kit/determinism"
)

var errFindings = errors.New("the simulation may differ between machines")

// VetCommand returns the verb vet.
func VetCommand() *cli.Command {
	return &cli.Command{
		Name:      "vet",
		Usage:     "find code of a game that may behave differently on another machine",
		ArgsUsage: "[PACKAGE...]",
		Description: `Analyzes the functions that a game passes to lockstep.Rules, functions with the
comment //samestep:deterministic, and all that they call. PACKAGE is as for the go
command, which must be installed; the default is ./... . Exits with 1 if there are
findings. As a vettool it runs with the analyzers of the go command:

  go vet -vettool=$(which samestep) ./...`,
		Flags: []cli.Flag{
			console.JSONFlag,
			&cli.BoolFlag{Name: "all", Usage: "check every function, also those that no simulation calls"},
		},
		Action: vet,
	}
}

func vet(c *cli.Context) error {
	patterns := c.Args().Slice()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	analyzed := 0
	found, err := determinism.Vet(determinism.Options{All: c.Bool("all"), Looked: func(n int) { analyzed = n }}, patterns...)
	if err != nil {
		return err
	}
	if analyzed == 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s: no function was analyzed: none is passed to lockstep.Rules, and none has the comment //samestep:deterministic\n", c.App.Name)
	}
	if dir, err := os.Getwd(); err == nil {
		for i := range found {
			if rel, err := filepath.Rel(dir, found[i].File); err == nil && !strings.HasPrefix(rel, "..") {
				found[i].File = rel
			}
		}
	}
	if len(found) > 0 {
		err = fmt.Errorf("%s: %w", console.Count(len(found), "finding"), errFindings)
	}
	list := append([]determinism.Finding{}, found...) // [] in JSON, not null
	return gameset.Tell(c, map[string]any{"findings": list, "functions": analyzed}, func(w io.Writer) {
		for _, f := range found {
			fmt.Fprintln(w, f)
		}
	}, err)
}

// IsVetTool reports whether "go vet -vettool" started this program: for its version, its flags, or to analyze a package.
func IsVetTool(args []string) bool {
	return len(args) > 1 && (args[1] == "-V=full" || args[1] == "-flags" || filepath.Base(args[len(args)-1]) == "vet.cfg")
}
