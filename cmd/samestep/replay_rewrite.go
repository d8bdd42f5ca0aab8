package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var segmentFlag = &cli.UintFlag{Name: "segment", Value: 600, Usage: "begin a new segment at the first keyframe after `N` ticks"}

func replaySealCommand() *cli.Command {
	return &cli.Command{
		Name:      "seal",
		Usage:     "compress a replay, and add an index",
		ArgsUsage: "IN OUT",
		Description: `Writes the same match in compressed segments that begin at keyframes. OUT must
not exist, and appears when it is complete. If a crash cut the file short, OUT gets
an end record that says so, and stderr tells how many ticks are left. For a file
that is damaged inside, see recover.`,
		Flags:  []cli.Flag{segmentFlag, jsonFlag},
		Action: written(sealed(sealReplay)),
	}
}

// sealReplay seals a match, and closes one that a crash left open.
func sealReplay(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
	found, err := replay.Recover(w, r)
	if err != nil || found.Damage == nil {
		return err
	}
	if found.Damage.Next > 0 || !errors.Is(found.Damage, io.ErrUnexpectedEOF) {
		return found.Damage
	}
	_, err = fmt.Fprintf(c.App.ErrWriter, "samestep: %s was torn at byte %d: %s are left\n", shown(c.Args().First()), found.Damage.Offset, count(found.Ticks, "tick"))
	return err
}

func replayCutCommand() *cli.Command {
	return &cli.Command{
		Name:      "cut",
		Usage:     "write the beginning of a replay, up to a tick",
		ArgsUsage: "IN OUT",
		Description: `The new replay ends after the tick, and its end record says so. Its content hash is
that of the whole match up to the tick. A match that is not longer stays whole.`,
		Flags: []cli.Flag{&cli.UintFlag{Name: "tick", Usage: "the last tick is `N`"}, segmentFlag, jsonFlag},
		Action: written(sealed(func(c *cli.Context, r *replay.Reader, w *replay.Writer) error {
			if !c.IsSet("tick") {
				return usagef("want --tick")
			}
			return replay.Cut(w, r, tickOf(c, "tick"))
		})),
	}
}

func replayRekeyCommand() *cli.Command {
	return &cli.Command{
		Name:      "rekey",
		Usage:     "write a replay with other keyframes",
		ArgsUsage: "IN OUT",
		Description: `More keyframes make seeking faster, and fewer make the file smaller. The match and its
content hash stay the same. --every 0 keeps only the first keyframe, and does not
need the game's code. Otherwise the match is simulated, and every checksum on the
way is compared.`,
		Flags:  []cli.Flag{&cli.UintFlag{Name: "every", Usage: "a keyframe every `N` ticks"}, segmentFlag, maxTicksFlag, jsonFlag},
		Action: written(rekey),
	}
}

func rekey(c *cli.Context) error {
	if !c.IsSet("every") {
		return usagef("want --every")
	}
	return copyReplay(c, func(f *replayFile, out *os.File) (err error) {
		var game *lockstep.Game
		every := tickOf(c, "every")
		if every > 0 {
			if game, _, err = f.game(); err != nil {
				return err
			}
		}
		r, err := f.reader()
		if err != nil {
			return err
		}
		o, done := simulateOptions(c)
		defer done()
		return replay.Rekey(replay.NewWriter(out, sealedOptions(c)), r, game, every, o)
	})
}

// sealed makes the action of a command that reads one replay, with a progress bar, and writes another, sealed.
func sealed(act func(*cli.Context, *replay.Reader, *replay.Writer) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return copyReplay(c, func(f *replayFile, out *os.File) error {
			r, done, err := f.watch(c)
			if err != nil {
				return err
			}
			defer done()
			return act(c, r, replay.NewWriter(out, sealedOptions(c)))
		})
	}
}

// copyReplay lets act read the replay of the first argument and write the file of the second.
func copyReplay(c *cli.Context, act func(f *replayFile, out *os.File) error) error {
	return withReplay(c.Args().First(), func(f *replayFile) error {
		return files.Create(c.Args().Get(1), func(out *os.File) error { return act(f, out) })
	})
}

// written wraps an action that writes a replay to its second argument. With --json it then prints a summary of that file.
func written(act cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := act(c); err != nil {
			return refuse(c, err, nil)
		}
		if !c.Bool("json") {
			return nil
		}
		return withReplay(c.Args().Get(1), func(f *replayFile) error {
			info, err := f.info()
			if err != nil {
				return err
			}
			return writeJSON(c.App.Writer, writtenFile{f.name, info.SizeBytes, info.Ticks, info.ContentHash, info.Signed, replay.ClassOK})
		})
	}
}

// A writtenFile describes a replay that a verb has written.
type writtenFile struct {
	File        string             `json:"file"`
	SizeBytes   int64              `json:"size_bytes,string"`
	Ticks       lockstep.Tick      `json:"ticks"`
	ContentHash replay.ContentHash `json:"content_hash"`
	Signed      bool               `json:"signed"`
	Class       replay.Class       `json:"class"`
}

// sealedOptions returns the options of a sealed file. They and a frequent garbage collection keep the memory rule:
// [replay.LevelBest] takes 34 MiB, and saves 5% of the file.
func sealedOptions(c *cli.Context) replay.WriterOptions {
	frugal()
	return replay.WriterOptions{Level: replay.LevelBetter, SegmentTicks: uint32(min(max(c.Uint("segment"), 1), 1<<31))}
}

// frugal lets the garbage collector run when the heap has grown by a tenth, for verbs that keep a few large buffers.
func frugal() { debug.SetGCPercent(10) }
