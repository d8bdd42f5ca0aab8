// Samestep is the engine's command line: it plays demonstration matches, hosts and joins live matches, and inspects and
// verifies replays.
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
		err = out.err // a verb whose output was not written has failed
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
		OnUsageError:   usageErrorOf,
		ExitErrHandler: func(*cli.Context, error) {}, // run turns errors into exit codes
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

// prepare adds what all commands do in the same way: turn errors of the flag parser into usage errors, count the
// arguments, name the command in usage errors, and print the help of a command that only groups others.
func prepare(c *cli.Command) {
	c.OnUsageError = usageErrorOf
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
	if len(c.Subcommands) > 0 {
		c.Action = showSubcommands
		return
	}
	act := c.Action
	c.Action = func(ctx *cli.Context) error {
		err := checkArguments(ctx)
		if err == nil {
			err = act(ctx)
		}
		return nameCommand(err, ctx.Command)
	}
}

// showSubcommands is the action of a command that only groups others.
func showSubcommands(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("unknown command %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// usageErrorOf marks the errors of the flag parser.
func usageErrorOf(c *cli.Context, err error, _ bool) error {
	return usagef("%v; see %s --help", err, c.Command.HelpName)
}
