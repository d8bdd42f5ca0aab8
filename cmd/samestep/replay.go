package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/replay"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:         "replay",
		Usage:        "look into a replay file, and verify it",
		OnUsageError: usageError,
		Subcommands:  []*cli.Command{replayInfoCommand(), replayVerifyCommand(), replayDumpCommand()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q; see samestep replay --help", c.Args().First())
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print one JSON value, for programs"}

// openReplay opens the file that is the command's only argument. Close the file
// when done.
func openReplay(c *cli.Context) (*replay.Reader, *os.File, error) {
	if c.NArg() != 1 {
		return nil, nil, usagef("%s: got %s, want one replay file", c.Command.Name, count(c.NArg(), "argument"))
	}
	f, err := os.Open(c.Args().First())
	if err != nil {
		return nil, nil, err
	}
	r, err := readerOf(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, f, nil
}

func readerOf(f *os.File) (*replay.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return replay.NewReader(f, info.Size())
}
