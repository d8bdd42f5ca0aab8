package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:         "replay",
		Usage:        "look into a replay file, verify it, and write it anew",
		OnUsageError: usageError,
		Subcommands: []*cli.Command{
			replayInfoCommand(), replayVerifyCommand(), replayDumpCommand(), replayFollowCommand(), replayWatchCommand(), replaySeekCommand(),
			replayDiffCommand(), replayBisectCommand(), replaySealCommand(),
			replaySignCommand(), replayCutCommand(), replayRekeyCommand(), replayRecoverCommand(), replayImportCommand(), replayExportCommand(),
		},
		Action: showSubcommands,
	}
}

// showSubcommands is the action of a command that is only a name for others.
func showSubcommands(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("unknown command %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print one JSON value, for programs"}

// onReplay makes the action of a command whose only argument is a replay file.
func onReplay(act func(*cli.Context, *replayFile) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() != 1 {
			return usagef("%s: got %s, want one replay file", c.Command.Name, count(c.NArg(), "argument"))
		}
		return withReplay(c.Args().First(), func(f *replayFile) error { return act(c, f) })
	}
}

// withReplay opens a file for act, and names it in the error. Of a bundle, act
// gets the replay in it.
func withReplay(name string, act func(*replayFile) error) error {
	return withOpened(files.Open, name, act)
}

// withOpened is withReplay with another way to open the file.
func withOpened(open func(string) (*os.File, error), name string, act func(*replayFile) error) error {
	f, err := open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	own := &replayFile{file: f, name: name}
	var extracted *os.File
	if own.bundle, extracted, err = unbundle(f); extracted != nil {
		defer discard(extracted)
		own.file = extracted
	}
	if err == nil {
		err = act(own)
	}
	if err != nil && !errors.Is(err, errUsage) {
		err = &fileError{name, err}
	}
	return err
}

// A replayFile is an open file that should be a replay.
type replayFile struct {
	file   *os.File
	name   string         // that was given
	bundle *replay.Bundle // that it was taken out of, or nil
}

// reader returns a Reader from the beginning on.
func (f *replayFile) reader() (*replay.Reader, error) { return readerOf(f.file) }

func readerOf(f *os.File) (*replay.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return replay.NewReader(f, info.Size())
}
