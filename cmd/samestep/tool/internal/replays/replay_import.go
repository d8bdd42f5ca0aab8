//go:build !js

package replays

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

func replayImportCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "convert a match of another engine to a sealed replay",
		ArgsUsage: "IN OUT",
		Description: `Reads lines of JSON, which may be compressed with gzip: a header, commands, checksums
that players reported, states, notes (names, a map, chat), and an end. IN may be - for
standard input. A command of tick t becomes one of frame t+1, which gives state t+1.
The checksum that most players reported becomes the agreed one. A recording may end
early: everything before is used. docs/spec/recordings.md describes every line.

The other verbs that read replays take such lines, too, but watch, follow and --follow
need an imported match.`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "from", Value: "jsonl", Usage: "`FORMAT` of the input: jsonl"}, segmentFlag, console.JSONFlag},
		Action: written(replayImport),
	}
}

func replayImport(c *cli.Context) error {
	if got := c.String("from"); got != "jsonl" {
		return console.Usagef("got format %q, want jsonl", got)
	}
	name := c.Args().First()
	in, err := openInput(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	options := sealedOptions(c)
	s, err := matchlines.Surveyed(in)
	if err != nil {
		return &console.FileError{Name: name, Err: err}
	}
	if s.Torn {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: torn: the recording ends early, at tick %d at the latest\n", c.App.Name, console.Shown(name), s.Ticks)
	}
	return files.Create(c.Args().Get(1), func(f *os.File) error { return gameset.OfFile(name, s.Write(f, in, options)) })
}

// openInput opens a file, or copies standard input into a temporary one, because import reads its input twice.
func openInput(c *cli.Context, name string) (*os.File, error) {
	if name != "-" {
		return files.Open(name)
	}
	f, err := os.CreateTemp("", "samestep-*.jsonl")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	n, err := io.Copy(f, io.LimitReader(c.App.Reader, maxInput+1))
	if err == nil && n > maxInput {
		err = &console.FileError{Name: name, Err: fmt.Errorf("%w: standard input has more than %d bytes", replay.ErrLimit, maxInput)}
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

const maxInput = 256 << 20 // bytes of standard input, as of the lines of a match
