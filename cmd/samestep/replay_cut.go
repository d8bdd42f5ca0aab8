package main

import (
	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayCutCommand() *cli.Command {
	return &cli.Command{
		Name:      "cut",
		Usage:     "write the beginning of a replay, up to a tick",
		ArgsUsage: "IN OUT",
		Description: `The new replay ends after the tick and says so. Its content hash up to the tick
is that of the whole match up to there. A match that is not longer stays whole.`,
		Flags:        []cli.Flag{&cli.UintFlag{Name: "tick", Usage: "the last tick is `N`"}, segmentFlag, jsonFlag},
		OnUsageError: usageError,
		Action: written(watched(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			if !c.IsSet("tick") {
				return usagef("cut: want --tick")
			}
			return replay.Cut(w, r, lockstep.Tick(min(c.Uint("tick"), 1<<32-1)))
		})),
	}
}
