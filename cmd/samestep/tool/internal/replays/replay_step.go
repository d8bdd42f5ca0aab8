//go:build !js

package replays

import (
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/stepper"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayStepCommand() *cli.Command {
	return &cli.Command{
		Name:      "step",
		Usage:     "look at one tick: its commands and phases, and what each of them changed",
		ArgsUsage: "FILE [OTHER]",
		Description: `Prints, for tick T, each command with what it changed, and whether the rules refuse it
in the state before the tick; what changed in each phase that the rules mark; events
and random draws; and all changes. It simulates the match with the game's code. What a
command changed is the difference between the tick with the commands up to this one and
the tick with those before it.

With OTHER, a second replay, it prints both sides and what differs between them before
and after the tick. Of a bundle, the sides are the replay and the states of the player,
if it has one after that tick.

It then reads words from standard input, one on each line:

  next, previous, tick N   go to another tick
  path PATH, path          show only the field at PATH or below it; show all
  limit N                  print at most N lines of fields of a part
  help, quit

It prints tick T, and then each tick that a word names. With --json it prints each
tick as one JSON value with all fields.

Exits with 3 if the last tick differs between two sides, and with 7 if the rules panic
in it.`,
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
	a, err := OpenStepSide(c, c.Args().First())
	if err != nil {
		return err
	}
	defer a.File.Close()
	s := &Stepping{C: c, A: a, path: c.String(gameset.PathFlag.Name), Limit: c.Int("limit")}
	if s.Tick, err = oneTick(c, a.File); err != nil {
		return err
	}
	if c.NArg() == 2 {
		if s.b, err = OpenStepSide(c, c.Args().Get(1)); err != nil {
			return err
		}
		defer s.b.File.Close()
	}
	return s.Run(stepInput(c))
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
		return panicTick(f)
	}
	if r := b.Manifest.Resimulation; r != nil && r.First > 0 {
		return r.First, nil
	}
	return b.Manifest.Tick, nil
}

// panicTick returns the tick in which the rules panicked in a match.
func panicTick(f *replay.File) (lockstep.Tick, error) {
	r, err := f.Reader()
	if err != nil {
		return 0, err
	}
	p, err := replay.FindPanic(r)
	if p == nil && err == nil {
		err = console.Usagef("want --tick")
	}
	if err != nil {
		return 0, err
	}
	return p.Tick, nil
}

// A stepSide is a file with a match, and a Stepper of it.
type stepSide struct {
	File    *replay.File
	stepper *stepper.Stepper
}

// OpenStepSide opens one side of replay step.
func OpenStepSide(c *cli.Context, name string) (*stepSide, error) {
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

// step accounts for a tick of the side.
func (s *stepSide) step(t lockstep.Tick, o stepper.Options) (*stepper.Step, error) {
	x, err := s.stepper.Step(t, o)
	var missing *replay.TickError
	if errors.As(err, &missing) {
		return nil, console.Usagef("tick %d: %s has ticks %d to %d", missing.Tick, s.File.Path(), missing.First, missing.Last)
	}
	return x, gameset.OfFile(s.File.Path(), gameset.PathError(err))
}

// fieldsOfStep is the number of fields that the JSON of a tick lists at most.
const fieldsOfStep = 1 << 16

// commandsOfStep is the number of commands of a tick that are accounted for one by one, with --json.
const commandsOfStep = 256

// show prints a tick. It reports whether two sides differ.
func (s *Stepping) show() (differs bool, err error) {
	o := stepper.Options{Path: s.path, Lines: s.Limit, Commands: s.Limit, Fields: fieldsOfStep, MaxTicks: gameset.MaxTicks(s.C)}
	if s.C.Bool("json") {
		o.Lines, o.Commands = math.MaxInt, commandsOfStep
	}
	simulate, done := gameset.SimulateOptions(s.C)
	o.Progress = simulate.Progress
	a, err := s.A.step(s.Tick, o)
	done()
	if err != nil {
		return false, err
	}
	s.panics = a.Panic != ""
	b, second, err := s.other(a, o)
	if err != nil {
		return false, err
	}
	if b == nil {
		return false, gameset.Report(s.C, a, nil)
	}
	pair, err := stepper.PairSteps(a, b, [2]string{s.A.File.Path(), second}, o)
	if err != nil {
		return false, err
	}
	return !pair.Same, gameset.Report(s.C, pair, nil)
}

// other returns the tick of the other side, and its name, or nil if there is none.
func (s *Stepping) other(a *stepper.Step, o stepper.Options) (b *stepper.Step, name string, err error) {
	if s.b != nil {
		b, err = s.b.step(s.Tick, o)
		return b, s.b.File.Path(), err
	}
	bundle := s.A.File.Bundle()
	if bundle == nil || bundle.Manifest.Tie || bundle.Manifest.Panic != nil {
		return nil, "", nil
	}
	b, err = a.OfPlayer(bundle, o)
	return b, fmt.Sprintf("player %d, by its states", bundle.Manifest.Player), gameset.OfFile(s.A.File.Path(), err)
}
