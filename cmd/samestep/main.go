// Samestep is the engine's command line: it plays demonstration matches, hosts
// and joins live ones, and tells what is in a replay and whether it is true.
//
//	samestep demo
//	samestep serve
//	samestep replay verify match.ssr
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/seed-49bee653/samestep/lockstep/determinism"
)

func main() {
	if isVetTool(os.Args) {
		unitchecker.Main(determinism.Analyzer) // does not return
	}
	if len(os.Args) > 1 && os.Args[1] == "replay" {
		limitMemory()
	}
	os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
}

// run runs the command line args until ctx ends, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &cleaner{w: stdout}
	stderr = &cleaner{w: stderr}
	app := newApp(out, stderr)
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil {
		err = out.err // what nobody could read is not done
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "samestep: %v\n", err)
	return exitCode(err)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:        "samestep",
		Usage:       "record, verify and explain deterministic lockstep matches",
		Description: exitTable,
		Writer:      stdout,
		ErrWriter:   stderr,
		HideVersion: true,
		Commands: []*cli.Command{
			demoCommand(), serveCommand(), joinCommand(), replayCommand(), desyncCommand(), vetCommand(), simulateCommand(), fuzzCommand(), drillCommand(), attackCommand(), benchCommand(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q; see samestep --help", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		OnUsageError:   usageError,
		ExitErrHandler: func(*cli.Context, error) {}, // run turns errors into exit codes
	}
	return app
}

// usageError marks the errors of the flag parser.
func usageError(c *cli.Context, err error, _ bool) error {
	return usagef("%v; see %s --help", err, c.Command.HelpName)
}
