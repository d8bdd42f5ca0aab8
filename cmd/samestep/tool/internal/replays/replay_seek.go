//go:build !js

package replays

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replaySeekCommand() *cli.Command {
	return &cli.Command{
		Name:      "seek",
		Usage:     "go to a tick of a replay, and print the checksum of its state and the time that it took",
		ArgsUsage: "FILE TICK",
		Description: `Simulates from the last keyframe up to the tick, so it costs at most one interval of
keyframes. For the state itself, see dump --tick. Checksums and keyframes on the way
are compared, and the next one after the tick, up to one interval of checks later. If
the simulation contradicts one, seek prints nothing and exits with 3. If none
follows so soon, it prints the last tick at which the file agrees ("agreed" in
--json, which is then before the tick).

A match of another engine is not simulated: seek takes the state that a player's machine
recorded at the tick. Without one, it names the nearest ticks that
have states (docs/import.md).`,
		Flags:  []cli.Flag{console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag},
		Action: replaySeek,
	}
}

func replaySeek(c *cli.Context) error {
	tick, err := strconv.ParseUint(c.Args().Get(1), 10, 32)
	if err != nil {
		return console.Usagef("got tick %q, want a number", c.Args().Get(1))
	}
	return gameset.WithReplay(c.Args().First(), func(f *replay.File) error {
		from := time.Now()
		at, err := gameset.StateAt(c, f, lockstep.Tick(tick))
		if err != nil {
			return err
		}
		at.Took = time.Since(from)
		if path := c.String(gameset.PathFlag.Name); path != "" {
			err = gameset.PathError(at.Show(path))
		}
		if err != nil {
			return err
		}
		return gameset.Report(c, at, nil)
	})
}
