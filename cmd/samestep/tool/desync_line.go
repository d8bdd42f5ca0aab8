//go:build !js

package tool

import (
	"cmp"
	"context"
	"errors"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/line"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func desyncLineCommand() *cli.Command {
	return &cli.Command{
		Name:      "line",
		Usage:     "find the line of code at which two versions, runs or platforms begin to compute different states",
		ArgsUsage: "BUNDLE|REPLAY",
		Description: `Builds a copy of the rules with probes, computes the match on two sides, and compares
the first tick that differs probe by probe: the first probe that differs is the line.
It needs the sources of the game and the go command, and changes neither the sources
nor the replay. See docs/desync-line.md.

The sides are two versions with --other, two platforms with --platform, and else one
version with itself: the same match --runs times, and then each tick from the start of
the match against the same tick from a snapshot.

Exits with 3 if anything differs.`,
		Flags: []cli.Flag{
			jsonFlag, assetsFlag,
			sourceFlag,
			&cli.StringFlag{Name: "other", Usage: "another version of it: a `FOLDER`, or a git revision"},
			&cli.StringFlag{Name: "platform", Usage: "another `PLATFORM`: js/wasm with Node.js, linux/386, or one that an emulator runs"},
			&cli.IntFlag{Name: "runs", Value: 4, Usage: "compute the match `N` times, without --other and --platform"},
			&cli.UintFlag{Name: "tick", Usage: "compare tick `T`", DefaultText: "the first that differs"},
		},
		Action: onReplay(desyncLine),
	}
}

var sourceFlag = &cli.StringFlag{Name: "source", Value: ".", Usage: "`FOLDER` in the module with the rules"}

func desyncLine(c *cli.Context, f *replay.File) error {
	if err := between(c, "runs", 2, 100); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o := line.Options{
		Source: c.String("source"), Other: c.String("other"), Platform: c.String("platform"), Runs: c.Int("runs"),
		Tick: lockstep.Tick(c.Uint("tick")),
	}
	if b := f.Bundle(); b != nil && o.Tick == 0 {
		o.From, o.Last = b.Manifest.Agreed, b.Manifest.Tick
	}
	if err := lineAssets(c, f, &o); err != nil {
		return err
	}
	found, err := line.Find(ctx, f, o)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if found.Tick > 0 {
		err = errDiffers
	}
	return report(c, found, err)
}

// lineAssets adds the assets of the match: from the program's games, or else from the folder.
func lineAssets(c *cli.Context, f *replay.File, o *line.Options) error {
	h, err := f.Header()
	if err != nil {
		return err
	}
	g, err := gamesOf(c).Of(h)
	if err != nil {
		if errors.As(err, new(*lockstep.IdentityError)) {
			return nil // another build: the woven rules say what they lack
		}
		return nil
	}
	o.Assets = g.ReadAsset
	o.List, err = g.Assets(h)
	return err
}
