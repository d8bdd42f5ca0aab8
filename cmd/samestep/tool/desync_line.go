//go:build !js

package tool

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncLineCommand() *cli.Command {
	return &cli.Command{
		Name:      "line",
		Usage:     "find the line of code at which two versions, runs or platforms begin to compute different states",
		ArgsUsage: "BUNDLE|REPLAY...",
		Description: `Builds a copy of the rules with probes, computes the match on two sides, and compares
the first tick that differs probe by probe: the first probe that differs is the line.
It needs the sources of the game and the go command, and changes neither the sources
nor the replay. See docs/desync-line.md.

The sides are two versions with --other, two platforms with --platform, and else one
version with itself: the same match --runs times, and then each tick from the start of
the match against the same tick from a snapshot.

With --rules, or if --other names a module (.wasm), the rules are those of modules, in any
language: it needs no sources, and names the first function at which the sides go
different ways, with the calls under way. Outside of any module of Go it takes the
module of the match by itself.

Several files, or a folder with replays and bundles, are grouped by the line that they name,
with one finding for each group. The probes are built once.

Exits with 3 if anything differs, with 7 if the rules panic in the same way on both
sides, and with 1 if both do not end a tick in the same way.`,
		Flags:  append([]cli.Flag{jsonFlag, assetsFlag, &cli.UintFlag{Name: "tick", Usage: "compare tick `T`", DefaultText: "the first that differs"}}, lineFlags()...),
		Action: desyncLine,
	}
}

// lineFlags say what the two sides are.
func lineFlags() []cli.Flag {
	return []cli.Flag{
		sourceFlag,
		&cli.StringFlag{Name: "other", Usage: "another version of it: a `FOLDER`, a git revision, or a module of rules"},
		&cli.StringFlag{Name: "platform", Usage: "another `PLATFORM`: js/wasm with Node.js, linux/386, or one that an emulator runs"},
		&cli.IntFlag{Name: "runs", Value: 4, Usage: "compute the match `N` times, without --other and --platform"},
	}
}

var sourceFlag = &cli.StringFlag{Name: "source", Usage: "`FOLDER` in the module with the rules, or a git revision", DefaultText: "the current one"}

func desyncLine(c *cli.Context) error {
	ctx, stop := interruptible(c)
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
	if !isBatch(args) {
		return withReplay(args[0], func(f *replay.File) error {
			found, err := find(f)
			if err != nil {
				return err
			}
			return report(c, found, lineError(found))
		})
	}
	b, err := newBatch(c, args, replayExtension, bundleExtension)
	if err != nil {
		return err
	}
	return b.lines(ctx, c, find)
}

// lineError returns the result of the command for one file.
func lineError(r *line.Result) error {
	switch {
	case r.Panicked():
		return errPanicked
	case r.Stuck():
		return errStuck
	case r.Differs():
		return errDiffers
	}
	return nil
}

// lines groups the files of a batch by the line that they name.
func (b *batch) lines(ctx context.Context, c *cli.Context, find func(*replay.File) (*line.Result, error)) error {
	var s line.Summary
	var failed error
	for _, in := range b.inputs {
		var found *line.Result
		row := in.run(func(f *replay.File, _ batchInput) (row batchRow) {
			found, row.err = find(f)
			return row
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if row.err != nil {
			failed = row.err
		} else if err := lineError(found); err != nil {
			failed = err
		}
		s.Add(in.path, found, row.err)
	}
	if s.Differs() {
		failed = errDiffers
	}
	return report(c, &s, failed)
}

// findLine compares the two sides of the flags in one file by the sources.
func findLine(ctx context.Context, c *cli.Context, x *line.Finder, f *replay.File, o line.Options) (*line.Result, error) {
	if err := between(c, "runs", 2, 100); err != nil {
		return nil, err
	}
	o.Source, o.Other, o.Platform, o.Runs = c.String("source"), c.String("other"), c.String("platform"), c.Int("runs")
	if err := lineAssets(c, f, &o); err != nil {
		return nil, err
	}
	found, err := x.Find(ctx, f, o)
	return found, cmp.Or(context.Cause(ctx), err)
}

// findOneLine compares the two sides of the flags in one file.
func findOneLine(c *cli.Context, f *replay.File) (*line.Result, error) {
	ctx, stop := interruptible(c)
	defer stop()
	x, err := newLineFinder(c)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.find(ctx, f, 0)
}

// lineAssets adds the assets of the match: from the program's games, or else from the folder.
func lineAssets(c *cli.Context, f *replay.File, o *line.Options) error {
	h, err := f.Header()
	if err != nil {
		return err
	}
	g, err := assetsFor(c, f, h)
	if g == nil {
		return err
	}
	o.Assets = g.ReadAsset
	o.List, err = g.Assets(h)
	return err
}
