//go:build !js

// Package tool is the engine's command line as a package: a program with all verbs of samestep for its own games.
//
//	package main
//
//	func main() {
//		tool.Main(tool.New(mygame.Rules(), tool.Bot(mygame.NewBot), tool.Config(mygame.Usual)))
//	}
//
// It hosts, joins, records and verifies matches, explains desyncs, and tests the rules: see docs/cli.md. Compiled for
// js/wasm the same program plays its games in a browser. The verbs are a few lines each over replay, desync and locksteptest,
// which a program can also call itself.
//
// Some parts of verbs need modules that few games use. A program has them if it imports their packages: s3 for an archive in object storage,
// mcap for replay export --to mcap, watch for the screen of replay watch.
package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/about"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/checks"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/desyncs"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/engine"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/live"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/modules"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/kit/determinism"
	wasm "github.com/seed-49bee653/samestep/module"
)

// Main runs the command line of a program with these games, at least one, and exits. Several builds of one game may be
// among them: verbs that read a replay take the build that wrote it, and all others take the first. See docs/upgrading.md.
func Main(games ...Game) { MainWith(serving.Extension{}, games...) }

// MainWith is [Main] for a program with more verbs.
func MainWith(ext serving.Extension, games ...Game) {
	prepareProcess(os.Args)
	os.Exit(RunWith(context.Background(), os.Args, os.Stdout, os.Stderr, ext, games...))
}

// prepareProcess does what only a process of its own can do.
func prepareProcess(args []string) {
	if checks.IsVetTool(args) {
		unitchecker.Main(determinism.Analyzer) // does not return
	}
	if len(args) == 2 && args[1] == gameset.CompileVerb {
		fmt.Fprintln(os.Stderr, wasm.CompileFor(os.Stdin, os.Stdout)) // it returns only with an error
		os.Exit(console.ExitError)
	}
	console.IsProgram = true
	if len(args) > 1 && args[1] != "serve" {
		os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // a player needs small ones; for a server see docs/operations.md
	}
	if len(args) > 1 && args[1] == "replay" {
		console.LimitMemory()
	}
}

// Run runs a command line until ctx ends, and returns the exit code. args[0] is the name of the program.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, games ...Game) int {
	return RunWith(ctx, args, stdout, stderr, serving.Extension{}, games...)
}

// RunWith is [Run] for a program with more verbs.
func RunWith(ctx context.Context, args []string, stdout, stderr io.Writer, ext serving.Extension, games ...Game) int {
	console.MainFolder = console.FindMain()
	list, err := listOf(games)
	if err != nil {
		fmt.Fprintf(words.NewCleaner(stderr), "%s: %v\n", programName(args), err)
		return console.ExitError
	}
	return runGames(list, ctx, args, stdout, stderr, ext)
}

// listOf returns the games of a program. The error is that of a game.
func listOf(games []Game) (gameset.List, error) {
	if len(games) == 0 {
		return nil, errors.New("tool.Main needs a game")
	}
	var list gameset.List
	for _, g := range games {
		switch {
		case g.err != nil:
			return nil, g.err
		case g.game == nil:
			return nil, errors.New("a game of tool.Main was not made by tool.New")
		case slices.ContainsFunc(list, func(other *gameset.Playable) bool {
			return other.Name() == g.game.Name() && other.Build() == g.game.Build()
		}):
			return nil, fmt.Errorf("tool.Main has game %q, build %q, twice", g.game.Name(), g.game.Build())
		}
		list = append(list, g.game)
	}
	return list, nil
}

// programName returns the name of a program, such as samestep.
func programName(args []string) string {
	if len(args) == 0 {
		return "samestep"
	}
	return strings.TrimSuffix(filepath.Base(args[0]), ".exe")
}

// runGames runs the command line args until ctx ends, and returns the exit code.
func runGames(l gameset.List, ctx context.Context, args []string, stdout, stderr io.Writer, ext serving.Extension) int {
	out := words.NewCleaner(stdout)
	stderr = words.NewCleaner(stderr)
	app := appOf(l, programName(args), out, stderr, ext)
	if console.AsksVersion(args) {
		args = []string{programName(args), "version"}
	}
	var err error
	if len(args) > 1 && args[1] == about.CompleteWord {
		err = about.Complete(out, app, args[2:])
	} else if len(args) == 2 && args[1] == gameset.ApartVerb {
		err = gameset.ComputeApart(l, os.Stdin, stdout)
	} else if err = console.RefuseKeys(app, args); err == nil {
		err = app.RunContext(ctx, console.FlagsFirst(app, args))
	}
	if missing := (cli.ExitCoder)(nil); errors.As(err, &missing) && !errors.As(err, new(*exec.ExitError)) { // the library's, of "help VERB"
		err = console.Usagef("%v; see %s --help", err, app.Name)
	}
	if err == nil {
		err = out.Err() // a verb whose output was not written has failed
	}
	if err == nil {
		return console.ExitOK
	}
	fmt.Fprintf(stderr, "%s: %v\n", app.Name, err)
	return console.ExitCode(err)
}

func appOf(l gameset.List, name string, stdout, stderr io.Writer, ext serving.Extension) *cli.App {
	app := &cli.App{
		Name:        name,
		HelpName:    name,
		Metadata:    map[string]any{gameset.GamesKey: l, serving.ExtensionKey: ext},
		Usage:       "record, verify and explain deterministic lockstep matches",
		Description: console.ExitTable,
		Writer:      stdout,
		ErrWriter:   stderr,
		HideVersion: true,
		Flags:       []cli.Flag{console.VersionFlag},
		Commands: slices.Concat(
			console.InCategory(console.ForPlay, live.DemoCommand(), serving.ServeCommand(), live.HealthcheckCommand(), live.JoinCommand(), live.GymCommand(), live.DoctorCommand(), live.SaveCommand()),
			console.InCategory(console.ForFiles, replays.ReplayCommand(serving.ReplayIndexCommand()), desyncs.DesyncCommand(), replays.AuditCommand()),
			console.InCategory(console.ForGames, about.NewCommand(), checks.VetCommand(), checks.FuzzCommand(), checks.GoldenCommand(), modules.RulesCommand(), gameset.AssetsCommand(), modules.PackCommand()),
			console.InCategory(console.ForCluster, ext.Verbs...),
			console.InCategory(console.ForProgram, about.VersionCommand(), about.CompletionCommand(), about.ManCommand()),
			console.InCategory(console.ForEngine, checks.SimulateCommand(), checks.DrillCommand(), engine.AttackCommand(), engine.BenchCommand()),
		),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return console.Usagef("unknown command %q; see %s --help%s", c.Args().First(), name, console.DidYouMean(c.Args().First(), console.CommandNames(c.App.Commands)))
			}
			return cli.ShowAppHelp(c)
		},
		OnUsageError:   usageErrorOf,
		ExitErrHandler: func(*cli.Context, error) {}, // run turns errors into exit codes
	}
	if ext.Keep != nil {
		app.Usage = "host lockstep matches on several servers"
	}
	app.Commands = slices.DeleteFunc(app.Commands, func(c *cli.Command) bool { return !keeps(&ext, c) })
	verbs := console.CommandNames(app.Commands)
	for _, c := range app.Commands {
		if c.Name == "serve" {
			c.Flags = serving.ServeFlags(ext)
			if !slices.ContainsFunc(l, func(g *gameset.Playable) bool { return g.Compat != nil }) {
				c.Flags = slices.DeleteFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "compat" })
			}
		}
		prepare(name, verbs, c)
	}
	return app
}

// ownVerb matches the name of the stock program and a verb.
var ownVerb = regexp.MustCompile(`\bsamestep [a-z]+`)

// prepare adds what all commands do in the same way: turn errors of the flag parser into usage errors, count the
// arguments, name the command in usage errors, and print the help of a command that only groups others. The help names the
// program.
func prepare(program string, verbs []string, c *cli.Command) {
	c.OnUsageError = usageErrorOf
	c.Description = ownVerb.ReplaceAllStringFunc(c.Description, func(words string) string {
		if _, verb, _ := strings.Cut(words, " "); !slices.Contains(verbs, verb) {
			return words // of the program beside this one, see Extension.Keep
		}
		return program + strings.TrimPrefix(words, "samestep")
	})
	for _, sub := range c.Subcommands {
		prepare(program, verbs, sub)
	}
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = showSubcommands
		return
	}
	gameset.TakesRules(c)
	act := c.Action
	c.Action = func(ctx *cli.Context) error {
		err := console.CheckArguments(ctx)
		if err == nil {
			err = serving.TakeSettings(ctx)
		}
		if err == nil {
			err = gameset.PrepareGames(ctx)
		}
		if err == nil {
			err = gameset.ModulesOf(ctx).Exceeded(act(ctx))
		}
		return console.NameCommand(gameset.NameConfig(ctx, err), ctx.Command)
	}
}

func showSubcommands(c *cli.Context) error {
	if c.Args().Present() {
		return console.Usagef("unknown command %q; see %s --help%s", c.Args().First(), c.Command.HelpName, console.DidYouMean(c.Args().First(), console.CommandNames(c.Command.Subcommands)))
	}
	return cli.ShowSubcommandHelp(c)
}

func usageErrorOf(c *cli.Context, err error, _ bool) error {
	near := ""
	text, mistyped := console.FlagMistake(err, c.Command.Flags)
	if mistyped != "" {
		near = cmp.Or(console.DidYouMean(mistyped, about.FlagWords(c.Command.Flags)), console.KeyMeant(mistyped, c.Command.Flags))
	}
	return console.Usagef("%s; see %s --help%s", text, c.Command.HelpName, near)
}
