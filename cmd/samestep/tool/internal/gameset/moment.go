//go:build !js

package gameset

import (
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// PathFlag chooses a part of a state, by its path as the verbs print it.
var PathFlag = &cli.StringFlag{Name: "path", Usage: "of states: print the field at `PATH`, or those below it, such as Units[17].Pos.X or Units[ID=4000].Health"}

// PathError returns an error of --path as a usage error, and others as they are.
func PathError(err error) error {
	if errors.Is(err, state.ErrPath) {
		return console.Usagef("--path: %v", err)
	}
	return err
}

// Warn tells, on standard error, that no check confirms the state, for verbs that print the state itself.
func Warn(c *cli.Context, m *replay.Moment, file string) {
	if m.By == nil && m.Agreed < m.Tick {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: state of tick %d: %s\n", c.App.Name, console.Shown(file), m.Tick, m.Agreement())
	}
}

// StateAt returns the state after a tick. It simulates the match unless the tick has a keyframe. Of a match of another engine, it
// returns the recorded state.
func StateAt(c *cli.Context, f *replay.File, t lockstep.Tick) (*replay.Moment, error) {
	g, header, noGame := GameIn(c, f)
	if header == nil {
		return nil, noGame
	}
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	var m *replay.Moment
	if header.Engine == replay.ForeignEngine {
		m, err = replay.RecordedAt(r, t)
	} else {
		o, done := SimulateOptions(c)
		m, err = replay.StateAt(r, g, t, o)
		done()
	}
	var missing *replay.TickError
	switch {
	case errors.As(err, new(*replay.NoStateError)):
		return nil, &console.ClassError{Class: replay.ClassIdentity, Text: err.Error()}
	case errors.Is(err, replay.ErrNoGame):
		return nil, fmt.Errorf("tick %d has no keyframe and cannot be simulated: %w", t, noGame)
	case errors.As(err, &missing):
		return nil, console.Usagef("%s", missing.Text())
	}
	return m, err
}

// MaxTicksFlag bounds a simulation.
var MaxTicksFlag = &cli.UintFlag{Name: "max-ticks", Usage: "refuse to simulate more than `N` ticks", DefaultText: "262144 and 64 for each byte, at most 16777216"}

// MaxTicks returns the value of --max-ticks, or 0 without it.
func MaxTicks(c *cli.Context) lockstep.Tick {
	if !c.IsSet("max-ticks") {
		return 0
	}
	return max(TickOf(c, "max-ticks"), 1)
}

// TickOf returns the value of a flag that is a tick.
func TickOf(c *cli.Context, flag string) lockstep.Tick {
	return lockstep.Tick(min(c.Uint(flag), math.MaxUint32))
}

// SimulateOptions returns the limits of a simulation, with a progress bar that done removes.
func SimulateOptions(c *cli.Context) (o replay.SimulateOptions, done func()) {
	bar := console.NewProgress(c.App.ErrWriter, 0, "ticks")
	o.MaxTicks = MaxTicks(c)
	o.Progress = func(done, all lockstep.Tick) { bar.SetOf(int64(done), int64(all)) }
	return o, bar.Done
}
