//go:build !js

package replays

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayInfoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "describe the match and the content of a replay",
		ArgsUsage: "FILE|FOLDER...",
		Description: `Reads the whole file without a simulation, so it works without the game's code. A
damaged file is read up to the damage. Each keyframe's state is compared with the
keyframe's own checksum. Only verify compares states with the simulation. The replay
in a bundle ends when the bundle was written.

--upto also prints the content hash up to a tick. It is the same for two recordings of
one match, even if one of them is longer or ends for another reason.` + batchHelp,
		Flags: []cli.Flag{
			console.JSONFlag,
			&cli.UintFlag{Name: "upto", Usage: "also hash the content up to tick `N`", DefaultText: "only the whole match"},
			JobsFlag,
		},
		Action: onReplays(replayInfo, batchInfo),
	}
}

func replayInfo(c *cli.Context, f *replay.File) error {
	r, done, err := gameset.Watched(c, f)
	if err != nil {
		return console.Refuse(c, err, nil)
	}
	Frugal()
	info, _ := replay.ReadInfo(r)
	err = ofBundle(f, info)
	done()
	if info.Header == nil {
		return console.Refuse(c, err, nil)
	}
	if c.IsSet("upto") {
		if err := hashUpTo(f, info, gameset.TickOf(c, "upto")); err != nil {
			return err
		}
	}
	return gameset.Report(c, info, err)
}

// ofBundle returns the error of an Info, without that of a replay in a bundle that only ends early.
func ofBundle(f *replay.File, info *replay.Info) error {
	if info.Header != nil {
		info.Err = unlessBundled(f, info.Err)
	}
	return info.Err
}

// unlessBundled returns err, but nil if it says that the replay in a bundle ends early: its match went on.
func unlessBundled(f *replay.File, err error) error {
	if f.Bundle() != nil && replay.ClassOf(err).Early() {
		return nil
	}
	return err
}

// hashUpTo adds the content hash up to a tick.
func hashUpTo(f *replay.File, info *replay.Info, tick lockstep.Tick) error {
	if len(info.Keyframes) == 0 || tick < info.Keyframes[0].Tick || tick > info.Ticks {
		return console.Usagef("--upto: got tick %d, want a tick in the readable part of the file, at most %d", tick, info.Ticks)
	}
	r, err := f.Reader()
	if err != nil {
		return err
	}
	h, _, err := replay.HashContent(r, tick)
	info.UpTo = &replay.PartHash{Tick: tick, ContentHash: h}
	return err
}

// batchInfo describes each file as [replayInfo] does.
func batchInfo(c *cli.Context, b *Batch) error {
	if err := noFlags(c, "upto"); err != nil {
		return err
	}
	return b.run(c, func(f *replay.File, _ BatchInput) BatchRow {
		info, _ := f.Info()
		err := ofBundle(f, info)
		if info.Header == nil {
			return BatchRow{Err: err}
		}
		return BatchRow{value: info, text: fmt.Sprintf("%q, build %q, %s, %s", info.Header.Game, info.Header.Build, console.Count(info.Ticks, "tick"), console.Size(info.SizeBytes)), Err: err}
	})
}
