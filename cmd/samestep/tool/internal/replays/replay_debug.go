//go:build !js

package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

func replayDebugCommand() *cli.Command {
	return &cli.Command{
		Name:      "debug",
		Usage:     "start the debugger Delve just before a tick, with a watchpoint on a field",
		ArgsUsage: "REPLAY|BUNDLE",
		Description: `Builds a small program from the sources of the game, which restores the match after
tick T-1 and computes tick T, and starts Delve (dlv) on it. You stand at the beginning
of the rules' Step, and the command "written" goes on to the next line that writes the
field. It needs the go command, and changes neither the sources nor the replay.

With --print, or if dlv is not installed, it leaves the program in a temporary folder
and prints how to start it. Without a terminal, Delve reads its commands from standard
input. See docs/desync-line.md.`,
		Flags: []cli.Flag{
			oneTickFlag,
			&cli.StringFlag{Name: "path", Usage: "watch the field at `PATH`, such as Units[17].Pos.X or Units[ID=4000].Health; of a list, its length"},
			gameset.SourceFlag, gameset.AssetsFlag,
			&cli.BoolFlag{Name: "print", Usage: "print how to start the debugger, and do not start it"},
		},
		Action: gameset.OnReplay(replayDebug),
	}
}

func replayDebug(c *cli.Context, f *replay.File) error {
	tick, err := oneTick(c, f)
	if err != nil {
		return err
	}
	if tick == 0 {
		return console.Usagef("--tick: got 0, want at least 1")
	}
	o := line.Options{Source: c.String("source"), Tick: tick}
	if err := gameset.LineAssets(c, f, &o); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "samestep-debug-")
	if err != nil {
		return err
	}
	ctx, stop := console.Interruptible(c)
	session, err := line.Prepare(ctx, f, folder, c.String("path"), o)
	interrupted := context.Cause(ctx)
	stop()
	if err != nil {
		return cmp.Or(interrupted, errors.Join(err, os.RemoveAll(folder)))
	}
	var panicked error
	if session.Panic != "" {
		panicked = console.ErrPanicked
	}
	delve, missing := exec.LookPath("dlv")
	if c.Bool("print") || missing != nil {
		err := session.WriteText(c.App.Writer)
		if err == nil && missing != nil {
			fmt.Fprintf(c.App.ErrWriter, "%s: dlv is not installed: go install github.com/go-delve/delve/cmd/dlv@latest\n", c.App.Name)
		}
		return cmp.Or(err, panicked)
	}
	defer os.RemoveAll(folder)
	if err := session.WriteNotes(c.App.ErrWriter); err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // which is for the debugger
	defer signal.Reset(os.Interrupt)
	terminal := term.IsTerminal(int(os.Stdin.Fd())) && console.IsTerminal(c.App.Writer)
	err = session.Run(c.Context, delve, terminal, c.App.Reader, c.App.Writer.(*words.Cleaner).Unwrap(), c.App.ErrWriter.(*words.Cleaner).Unwrap())
	return cmp.Or(err, panicked)
}
