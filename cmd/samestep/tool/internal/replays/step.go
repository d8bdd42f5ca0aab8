//go:build !js

package replays

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/desync/stepper"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayStepCommand() *cli.Command {
	return &cli.Command{
		Name:      "step",
		Usage:     "look at one tick: its commands and phases, and what each of them changed",
		ArgsUsage: "FILE [OTHER]",
		Description: `Prints what each command of tick T changed, and whether the rules refuse it in the state
before the tick; what each phase that the rules mark changed; events and random draws; and
all changes. It simulates the match with the game's code. A command's change is the
difference between the tick with the commands up to it and the tick with those before it.

With OTHER, a second replay, it prints both sides, and what differs before and after the
tick. A bundle has two sides, the replay and the player's states, if the player sent one
after that tick.

Then it reads commands from standard input, one a line:

  next, previous, tick N   go to another tick
  path PATH, path          show only the field at PATH or below it; show all
  limit N                  print at most N lines of fields in a part
  help, quit

With --json it prints each tick as one JSON value with all fields.

Exits with 3 if the two sides of the last tick differ, and with 7 if the rules panic in
it.`,
		Flags: []cli.Flag{
			console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag, limitFlag,
			oneTickFlag,
		},
		Action: replayStep,
	}
}

func replayStep(c *cli.Context) error {
	if err := console.Between(c, "limit", 0, 0); err != nil {
		return err
	}
	a, err := openStepSide(c, c.Args().First())
	if err != nil {
		return err
	}
	defer a.file.Close()
	s := &stepping{c: c, a: a, path: c.String(gameset.PathFlag.Name), limit: c.Int("limit")}
	if s.tick, err = oneTick(c, a.file); err != nil {
		return err
	}
	if c.NArg() == 2 {
		if s.b, err = openStepSide(c, c.Args().Get(1)); err != nil {
			return err
		}
		defer s.b.file.Close()
	}
	return s.run(stepInput(c))
}

// oneTickFlag chooses a tick, see [oneTick].
var oneTickFlag = &cli.UintFlag{Name: "tick", Usage: "look at tick `T`", DefaultText: "of a bundle, the first that is known to differ; of a replay, that in which the rules panicked"}

// oneTick returns the tick of --tick, or that of the desync in a bundle.
func oneTick(c *cli.Context, f *replay.File) (lockstep.Tick, error) {
	b := f.Bundle()
	switch {
	case c.IsSet("tick"):
		return gameset.TickOf(c, "tick"), nil
	case b == nil:
		r, err := f.Reader()
		if err != nil {
			return 0, err
		}
		p, err := replay.FindPanic(r)
		if p == nil {
			return 0, cmp.Or(err, console.Usagef("want --tick"))
		}
		return p.Tick, err
	}
	if r := b.Manifest.Resimulation; r != nil && r.First > 0 {
		return r.First, nil
	}
	return b.Manifest.Tick, nil
}

type stepSide struct {
	file    *replay.File
	stepper *stepper.Stepper
}

// openStepSide opens one side of replay step.
func openStepSide(c *cli.Context, name string) (*stepSide, error) {
	f, err := gameset.OpenReplay(name)
	if err != nil {
		return nil, err
	}
	g, _, err := gameset.GameIn(c, f)
	var r *replay.Reader
	if err == nil {
		r, err = f.Reader()
	}
	if err != nil {
		f.Close()
		return nil, gameset.OfFile(name, err)
	}
	return &stepSide{f, stepper.New(r, g)}, nil
}

func (s *stepSide) step(t lockstep.Tick, o stepper.Options) (*stepper.Step, error) {
	x, err := s.stepper.Step(t, o)
	var missing *replay.TickError
	if errors.As(err, &missing) {
		return nil, console.Usagef("tick %d: %s has ticks %d to %d", missing.Tick, s.file.Path(), missing.First, missing.Last)
	}
	return x, gameset.OfFile(s.file.Path(), gameset.PathError(err))
}

// show prints a tick. It reports whether two sides differ.
func (s *stepping) show() (differs bool, err error) {
	o := stepper.Options{Path: s.path, Lines: s.limit, Commands: s.limit, Fields: 1 << 16, MaxTicks: gameset.MaxTicks(s.c)}
	if s.c.Bool("json") {
		o.Lines, o.Commands = math.MaxInt, 256
	}
	simulate, done := gameset.SimulateOptions(s.c)
	o.Progress = simulate.Progress
	a, err := s.a.step(s.tick, o)
	done()
	if err != nil {
		return false, err
	}
	s.panics = a.Panic != ""
	var b *stepper.Step
	var second string
	switch bundle := s.a.file.Bundle(); {
	case s.b != nil:
		second = s.b.file.Path()
		b, err = s.b.step(s.tick, o)
	case bundle == nil || bundle.Manifest.Tie || bundle.Manifest.Panic != nil || bundle.Manifest.Twin != nil:
		return false, gameset.Report(s.c, a, nil)
	default:
		second = fmt.Sprintf("player %d, by its states", bundle.Manifest.Player)
		b, err = a.OfPlayer(bundle, o)
		err = gameset.OfFile(s.a.file.Path(), err)
	}
	if err != nil {
		return false, err
	}
	if b == nil {
		return false, gameset.Report(s.c, a, nil)
	}
	pair, err := stepper.PairSteps(a, b, [2]string{s.a.file.Path(), second}, o)
	if err != nil {
		return false, err
	}
	return !pair.Same, gameset.Report(s.c, pair, nil)
}

// A stepping is a look at ticks, which words from standard input move.
type stepping struct {
	c      *cli.Context
	a, b   *stepSide // b is nil without a second file
	tick   lockstep.Tick
	path   string
	limit  int
	panics bool // the rules, in the last tick
}

// stepInput returns where the words come from, and whether a person is there who can be asks.
func stepInput(c *cli.Context) (in io.Reader, asks bool) {
	f, ok := c.App.Reader.(*os.File)
	switch {
	case !ok || !term.IsTerminal(int(f.Fd())):
		return c.App.Reader, false
	case console.IsTerminal(c.App.Writer):
		return c.App.Reader, true
	}
	return strings.NewReader(""), false // the output goes elsewhere: nobody would see a question
}

// run shows the first tick, and then does what each line says. A mistake ends it, unless it asks a person.
func (s *stepping) run(in io.Reader, asks bool) error {
	differs, err := s.show()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<10)
	for {
		if asks {
			fmt.Fprintf(s.c.App.Writer, "tick %d> ", s.tick)
		}
		if !lines.Scan() {
			break
		}
		before := *s
		shows, err := s.do(lines.Text())
		if err == nil && shows {
			differs, err = s.show()
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.result(differs)
		case err != nil && !asks:
			return err
		case err != nil:
			*s = before
			fmt.Fprintf(s.c.App.Writer, "%v\n", err)
		}
	}
	return cmp.Or(lines.Err(), s.result(differs))
}

func (s *stepping) result(differs bool) error {
	switch {
	case differs:
		return console.ErrDiffers
	case s.panics:
		return console.ErrPanicked
	}
	return nil
}

// do does what a line says, and reports whether there is a tick to show. At quit it returns io.EOF.
func (s *stepping) do(line string) (shows bool, err error) {
	word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	value = strings.TrimSpace(value)
	takes := map[string]bool{"tick": true, "t": true, "limit": true, "path": true}
	if value != "" && !takes[word] {
		return false, console.Usagef("got %q, want %s alone", line, word)
	}
	switch word {
	case "":
		return false, nil
	case "next", "n":
		s.tick++
	case "previous", "p":
		s.tick = max(s.tick, 1) - 1
	case "tick", "t":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return false, console.Usagef("got tick %q, want a number", value)
		}
		s.tick = lockstep.Tick(n)
	case "path":
		s.path = value
	case "limit":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return false, console.Usagef("got limit %q, want a number", value)
		}
		s.limit = int(n)
	case "help", "h", "?":
		_, err := fmt.Fprint(s.c.App.Writer, stepHelp)
		return false, err
	case "quit", "q":
		return false, io.EOF
	default:
		return false, console.Usagef("unknown word %q, want next, previous, tick N, path PATH, limit N, help or quit", word)
	}
	return true, nil
}

const stepHelp = `n, next      the next tick
p, previous  the tick before
t, tick N    tick N
path PATH    show the fields at or below PATH; without PATH, all
limit N      print at most N lines of fields of a part
q, quit      end
`

func replayDebugCommand() *cli.Command {
	return &cli.Command{
		Name:      "debug",
		Usage:     "start the debugger Delve just before a tick, with a watchpoint on a field",
		ArgsUsage: "REPLAY|BUNDLE",
		Description: `Builds a small program from the game's sources that restores the match after tick T-1 and
computes tick T, and starts Delve (dlv) on it. The debugger stops at the first line of
Step; the command "written" continues to the next line that writes the field. It needs
the go command, and changes neither sources nor replays.

With --print, or if dlv is not installed, it leaves the program in a temporary folder and
prints how to start it. Without a terminal, Delve reads its commands from standard input.
See docs/desync-line.md.`,
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
