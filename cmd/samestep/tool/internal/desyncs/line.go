//go:build !js

package desyncs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncLineCommand() *cli.Command {
	return &cli.Command{
		Name:      "line",
		Usage:     "find the line of code at which two versions, runs or platforms begin to compute different states",
		ArgsUsage: "BUNDLE|REPLAY...",
		Description: `Builds the rules with probes, computes the match on two sides, and compares the first
tick whose results differ: the line is that of the first probe that differs. It needs the
game's sources and the go command, and changes neither sources nor replays. See
docs/desync-line.md.

The sides are two versions (--other), two platforms (--platform), or else one version
twice: the match --runs times, then each tick simulated from the start of the match and
from a snapshot.

With --rules, or a module (.wasm) as --other, the rules are modules, in any language. It
then needs no sources, and names the first function in which the sides take different
paths, and its callers. Outside of a Go module it takes the match's own module.

Several files, or a folder with replays and bundles, are grouped by the line found. The
probes are built once.

Exits with 3 if anything differs, with 7 if the rules panic in the same way on both
sides, and with 1 if neither side finishes a tick.`,
		Flags:  append([]cli.Flag{console.JSONFlag, gameset.AssetsFlag, &cli.UintFlag{Name: "tick", Usage: "compare tick `T`", DefaultText: "the first that differs"}}, lineFlags()...),
		Action: desyncLine,
	}
}

// lineFlags say what the two sides are.
func lineFlags() []cli.Flag {
	return []cli.Flag{
		gameset.SourceFlag,
		&cli.StringFlag{Name: "other", Usage: "another version of it: a `FOLDER`, a git revision, or a module of rules"},
		&cli.StringFlag{Name: "platform", Usage: "another `PLATFORM`: js/wasm with Node.js, linux/386, or one that an emulator runs"},
		&cli.IntFlag{Name: "runs", Value: 4, Usage: "compute the match `N` times, without --other and --platform"},
	}
}

// sidesOf returns the flags that say what the two sides are; "" for none.
func sidesOf(c *cli.Context) (flags string) {
	for _, name := range []string{"source", "other", "platform"} {
		if c.IsSet(name) {
			flags += fmt.Sprintf(" --%s %s", name, words.ShellWord(c.String(name)))
		}
	}
	return flags
}

func desyncLine(c *cli.Context) error {
	ctx, stop := console.Interruptible(c)
	defer stop()
	x, err := newLineFinder(c)
	if err != nil {
		return err
	}
	defer x.Close()
	find := func(f *replay.File) (*line.Result, error) {
		return x.find(ctx, f, lockstep.Tick(c.Uint("tick")))
	}
	args := c.Args().Slice()
	if !replays.IsBatch(args) {
		return gameset.WithReplay(args[0], func(f *replay.File) error {
			found, err := find(f)
			if err != nil {
				return err
			}
			return gameset.Report(c, found, lineError(found))
		})
	}
	b, err := replays.NewBatch(c, args, replays.ReplayExtension, replays.BundleExtension)
	if err != nil {
		return err
	}
	var s line.Summary
	var failed error
	for _, in := range b.Inputs {
		var found *line.Result
		row := in.Run(func(f *replay.File, _ replays.BatchInput) (row replays.BatchRow) {
			found, row.Err = find(f)
			return row
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if row.Err != nil {
			failed = row.Err
		} else if err := lineError(found); err != nil {
			failed = err
		}
		s.Add(in.Path, found, row.Err)
	}
	if s.Differs() {
		failed = console.ErrDiffers
	}
	return gameset.Report(c, &s, failed)
}

func lineError(r *line.Result) error {
	switch {
	case r.Panicked():
		return console.ErrPanicked
	case r.Stuck():
		return console.ErrStuck
	case r.Differs():
		return console.ErrDiffers
	}
	return nil
}

// findOneLine compares the two sides of the flags in one file.
func findOneLine(c *cli.Context, f *replay.File) (*line.Result, error) {
	ctx, stop := console.Interruptible(c)
	defer stop()
	x, err := newLineFinder(c)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.find(ctx, f, 0)
}

// A lineFinder finds lines of code in the sources of a game, or functions in modules of its rules.
type lineFinder struct {
	*line.Finder
	functions line.FunctionFinder
	c         *cli.Context
	others    *gameset.ModuleSet // the module of --other; nil for none
}

func newLineFinder(c *cli.Context) (x *lineFinder, err error) {
	x = &lineFinder{c: c}
	if other := c.String("other"); strings.HasSuffix(other, gameset.ModuleExtension) {
		for _, name := range []string{"source", "platform"} {
			if c.IsSet(name) {
				return x, console.Usagef("--other %s is a module: it cannot be used with --%s", other, name)
			}
		}
		if x.others, err = gameset.NewModuleSet(c, nil, []string{other}); err != nil {
			return x, err
		}
	}
	x.Finder, err = line.NewFinder()
	return x, err
}

// Close frees what the finder has built.
func (x *lineFinder) Close() error { return errors.Join(x.Finder.Close(), x.functions.Close()) }

// find compares the two sides of the flags in one file, at a tick or at the first one that differs.
func (x *lineFinder) find(ctx context.Context, f *replay.File, tick lockstep.Tick) (*line.Result, error) {
	o := line.Options{Tick: tick}
	if b := f.Bundle(); b != nil && o.Tick == 0 {
		o.From, o.Last = b.Manifest.Agreed, b.Manifest.Tick
	}
	a, err := x.module(f)
	if err != nil {
		return nil, err
	}
	if a != nil {
		return x.findFunction(ctx, f, o, a)
	}
	if err := console.Between(x.c, "runs", 2, 100); err != nil {
		return nil, err
	}
	o.Source, o.Other, o.Platform, o.Runs = x.c.String("source"), x.c.String("other"), x.c.String("platform"), x.c.Int("runs")
	if err := gameset.LineAssets(x.c, f, &o); err != nil {
		return nil, err
	}
	found, err := x.Finder.Find(ctx, f, o)
	return found, cmp.Or(context.Cause(ctx), err)
}

// module returns the game of side A if it is one of a module, or nil to look for a line in the sources.
func (x *lineFinder) module(f *replay.File) (*gameset.Playable, error) {
	wanted := x.others != nil || x.c.IsSet(gameset.RulesFlag.Name)
	if x.others == nil && (sidesOf(x.c) != "" || !wanted && inModuleOfGo()) {
		return nil, nil
	}
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	games, err := gameset.ModulesOf(x.c).OfFile(f)
	if err != nil {
		return nil, err
	}
	g, err := games.Of(h)
	switch {
	case !wanted && (err != nil || g.Module == nil):
		return nil, nil
	case err != nil:
		return nil, err
	case g.Module == nil:
		return nil, console.Usagef("the match's rules are built into the program: name a module of them with --rules")
	}
	return g, nil
}

// inModuleOfGo reports whether the current folder is in a module of Go.
func inModuleOfGo() bool {
	dir, err := os.Getwd()
	for last := ""; err == nil && dir != last; last, dir = dir, filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return true
		}
	}
	return false
}

// findFunction compares the functions that a match calls with those of the other module, or with itself.
func (x *lineFinder) findFunction(ctx context.Context, f *replay.File, o line.Options, a *gameset.Playable) (*line.Result, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	if _, err := gameset.ModulesOf(x.c).Use(f); err != nil {
		return nil, err
	}
	if x.others == nil {
		return x.functions.Find(ctx, f, o, a.Side(h.Build), nil)
	}
	b, err := x.others.Other(h)
	if err != nil {
		return nil, &console.FileError{Name: x.c.String("other"), Err: err}
	}
	return x.functions.Find(ctx, f, o, a.Side(h.Build), b.Side(h.Build))
}
