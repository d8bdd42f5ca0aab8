//go:build !js

package desyncs

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

// DesyncCommand returns the verb desync.
func DesyncCommand() *cli.Command {
	return &cli.Command{Name: "desync", Usage: "find out why checksums differed", Subcommands: []*cli.Command{desyncExplainCommand(), desyncTriageCommand(), desyncLineCommand(), desyncRedactCommand()}}
}

func desyncRedactCommand() *cli.Command {
	return &cli.Command{
		Name:      "redact",
		Usage:     "write a bundle without names, chat and other texts, to give it to others",
		ArgsUsage: "BUNDLE OUT",
		Description: `OUT has the same match, states and checksums, and explain finds the same cause. It has no
names of players, no chat and no other notes, no reason of the end, and no module paths
and revisions of programs, so desync line has to be told the versions. Strings in the state, the
configuration and the commands stay, because the match cannot be computed without them:
redact lists these fields.`,
		Flags:  []cli.Flag{console.JSONFlag},
		Action: desyncRedact,
	}
}

// A redactedBundle describes the bundle that was written.
type redactedBundle struct {
	File  string   `json:"file"`
	Stays []string `json:"stays"` // fields that are strings
}

// maxRedacted is the largest replay that redact reads, as explain does.
const maxRedacted = 256 << 20

func desyncRedact(c *cli.Context) error {
	in, out := c.Args().Get(0), c.Args().Get(1)
	f, err := replay.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	b := f.Bundle()
	if b == nil {
		return &console.FileError{Name: in, Err: replay.ErrBundle}
	}
	replays.Frugal()
	h, err := f.Header()
	if err != nil {
		return &console.FileError{Name: in, Err: err}
	}
	written := redactedBundle{File: out}
	if written.Stays, err = replay.PlainTexts(h); err != nil {
		return &console.FileError{Name: in, Err: err}
	}
	err = files.Create(out, func(file *os.File) error {
		return gameset.OfFile(in, replay.RedactBundle(file, b, maxRedacted))
	})
	if err != nil {
		return err
	}
	return gameset.Tell(c, written, func(w io.Writer) {
		line := console.NewLiner(w)
		line("written", "%s", out)
		replays.PrintLines(line, "stays", written.Stays)
	}, nil)
}
