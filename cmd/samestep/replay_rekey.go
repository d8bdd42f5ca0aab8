package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayRekeyCommand() *cli.Command {
	return &cli.Command{
		Name:      "rekey",
		Usage:     "write a replay with other keyframes",
		ArgsUsage: "IN OUT",
		Description: `More keyframes make seeking quicker, fewer make the file smaller; what the match
was, and its content hash, stay. With --every 0 only the first is left, for which
the game's code is not needed. Otherwise the match is simulated, and every
checksum compared on the way.`,
		Flags:        []cli.Flag{&cli.UintFlag{Name: "every", Usage: "a keyframe every `N` ticks"}, segmentFlag, maxTicksFlag, jsonFlag},
		OnUsageError: usageError,
		Action: written(rewrite(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			if !c.IsSet("every") {
				return usagef("rekey: want --every")
			}
			every := lockstep.Tick(min(c.Uint("every"), 1<<32-1))
			var game *lockstep.Game
			if every > 0 {
				var err error
				if game, err = gameAhead(r); err != nil {
					return err
				}
			}
			o, done := simulateOptions(c)
			defer done()
			return replay.Rekey(w, r, game, every, o)
		})),
	}
}

// gameAhead returns the game of a replay that stands at its beginning, and
// leaves it there.
func gameAhead(r *replay.Reader) (*lockstep.Game, error) {
	g, _, err := gameInFile(r)
	if err != nil {
		return nil, err
	}
	if _, err = r.Seek(0); err != nil {
		return nil, fmt.Errorf("no keyframe: %w", err)
	}
	return g, nil
}
