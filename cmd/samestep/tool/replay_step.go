//go:build !js

package tool

import (
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

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
			jsonFlag, pathFlag, maxTicksFlag, assetsFlag, limitFlag,
			oneTickFlag,
		},
		Action: replayStep,
	}
}

func replayStep(c *cli.Context) error {
	if err := between(c, "limit", 0, 0); err != nil {
		return err
	}
	a, err := openStepSide(c, c.Args().First())
	if err != nil {
		return err
	}
	defer a.file.Close()
	s := &stepping{c: c, a: a, path: c.String(pathFlag.Name), limit: c.Int("limit")}
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
		return tickOf(c, "tick"), nil
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
		err = usagef("want --tick")
	}
	if err != nil {
		return 0, err
	}
	return p.Tick, nil
}

// A stepSide is a file with a match, and a Stepper of it.
type stepSide struct {
	file    *replay.File
	stepper *stepper.Stepper
}

func openStepSide(c *cli.Context, name string) (*stepSide, error) {
	f, err := openReplay(name)
	if err != nil {
		return nil, err
	}
	g, _, err := gameIn(c, f)
	var r *replay.Reader
	if err == nil {
		r, err = f.Reader()
	}
	if err != nil {
		f.Close()
		return nil, ofFile(name, err)
	}
	return &stepSide{f, stepper.New(r, g)}, nil
}

// step accounts for a tick of the side.
func (s *stepSide) step(t lockstep.Tick, o stepper.Options) (*stepper.Step, error) {
	x, err := s.stepper.Step(t, o)
	var missing *replay.TickError
	if errors.As(err, &missing) {
		return nil, usagef("tick %d: %s has ticks %d to %d", missing.Tick, s.file.Path(), missing.First, missing.Last)
	}
	return x, ofFile(s.file.Path(), pathError(err))
}

// fieldsOfStep is the number of fields that the JSON of a tick lists at most.
const fieldsOfStep = 1 << 16

// commandsOfStep is the number of commands of a tick that are accounted for one by one, with --json.
const commandsOfStep = 256

// show prints a tick. It reports whether two sides differ.
func (s *stepping) show() (differs bool, err error) {
	o := stepper.Options{Path: s.path, Lines: s.limit, Commands: s.limit, Fields: fieldsOfStep, MaxTicks: maxTicks(s.c)}
	if s.c.Bool("json") {
		o.Lines, o.Commands = math.MaxInt, commandsOfStep
	}
	simulate, done := simulateOptions(s.c)
	o.Progress = simulate.Progress
	a, err := s.a.step(s.tick, o)
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
		return false, report(s.c, a, nil)
	}
	pair, err := stepper.PairSteps(a, b, [2]string{s.a.file.Path(), second}, o)
	if err != nil {
		return false, err
	}
	return !pair.Same, report(s.c, pair, nil)
}

// other returns the tick of the other side, and its name, or nil if there is none.
func (s *stepping) other(a *stepper.Step, o stepper.Options) (b *stepper.Step, name string, err error) {
	if s.b != nil {
		b, err = s.b.step(s.tick, o)
		return b, s.b.file.Path(), err
	}
	bundle := s.a.file.Bundle()
	if bundle == nil || bundle.Manifest.Tie || bundle.Manifest.Panic != nil {
		return nil, "", nil
	}
	b, err = a.OfPlayer(bundle, o)
	return b, fmt.Sprintf("player %d, by its states", bundle.Manifest.Player), ofFile(s.a.file.Path(), err)
}
