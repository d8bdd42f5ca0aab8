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
		Usage:     "compress a replay, and give it an index",
		ArgsUsage: "IN OUT",
		Description: `Writes the same match in compressed segments that begin at keyframes. OUT must
not exist; it is there only when it is complete. A file that a crash cut short is
closed: it gets an end that says so, and stderr tells what is left. For a file that
is damaged inside there is recover.`,
		Flags:        []cli.Flag{segmentFlag, jsonFlag},
		OnUsageError: usageError,
		Action:       written(watched(sealReplay)),
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

// rewrite makes the action of a command that reads one replay and writes
// another, sealed.
func rewrite(act func(*cli.Context, *replay.Reader, *replay.Writer) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return copyReplay(c, func(r *replay.Reader, out *os.File) error {
			return act(c, r, replay.NewWriter(out, sealedOptions(c)))
		})
	}
}

// watched is rewrite with a progress bar.
func watched(act func(*cli.Context, *replay.Reader, *replay.Writer) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return copyFile(c, func(f *replayFile, out string) error {
			r, done, err := f.watch(c)
			if err != nil {
				return err
			}
			defer done()
			return files.Create(out, func(w *os.File) error { return act(c, r, replay.NewWriter(w, sealedOptions(c))) })
		})
	}
}

// copyReplay reads the replay that the first argument names and lets act write
// the file that the second one does.
func copyReplay(c *cli.Context, act func(*replay.Reader, *os.File) error) error {
	return copyFile(c, func(f *replayFile, out string) error {
		r, err := f.reader()
		if err != nil {
			return err
		}
		return files.Create(out, func(w *os.File) error { return act(r, w) })
	})
}

// copyFile opens the file that the first argument names, for act, which makes
// the one that the second names.
func copyFile(c *cli.Context, act func(in *replayFile, out string) error) error {
	if c.NArg() != 2 {
		return usagef("%s: got %s, want one file to read and one to write", c.Command.Name, count(c.NArg(), "argument"))
	}
	return withReplay(c.Args().First(), func(f *replayFile) error { return act(f, c.Args().Get(1)) })
}

// written wraps an action that writes a replay to its second argument. With
// --json it then prints a summary of that file.
func written(act cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := act(c); err != nil {
			return refuse(c, err, nil)
		}
		if !c.Bool("json") {
			return nil
		}
		return withReplay(c.Args().Get(1), func(f *replayFile) error {
			r, err := f.reader()
			if err != nil {
				return err
			}
			info, err := replay.ReadInfo(r)
			if err != nil {
				return err
			}
			return writeJSON(c.App.Writer, writtenFile{f.file.Name(), info.SizeBytes, info.Ticks, info.ContentHash, info.Signed, replay.ClassOK})
		})
	}
}

// A writtenFile is a replay that a verb has written.
type writtenFile struct {
	File        string             `json:"file"`
	SizeBytes   int64              `json:"size_bytes,string"`
	Ticks       lockstep.Tick      `json:"ticks"`
	ContentHash replay.ContentHash `json:"content_hash"`
	Signed      bool               `json:"signed"`
	Class       replay.Class       `json:"class"`
}

// sealedOptions returns the options of a sealed file. They, and a collector that
// runs often, keep the memory rule: [replay.LevelBest] takes 34 MiB, and saves 5% of
// the file.
func sealedOptions(c *cli.Context) replay.WriterOptions {
	frugal()
	return replay.WriterOptions{Level: replay.LevelBetter, SegmentTicks: uint32(min(max(c.Uint("segment"), 1), 1<<31))}
}

// frugal makes the collector run when a tenth more memory is in use, for verbs
// that keep a few large buffers.
func frugal() { debug.SetGCPercent(10) }
