package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

func replaySeekCommand() *cli.Command {
	return &cli.Command{
		Name:      "seek",
		Usage:     "go to a tick of a replay, and tell the checksum of its state and what it took",
		ArgsUsage: "FILE TICK",
		Description: `Simulates from the last keyframe that is not after the tick, so it costs at most
one interval of keyframes. See dump --tick for the state itself. Checksums and
keyframes on the way are compared, and the next one after the tick, up to one
interval of checks further: where the simulation contradicts one, no state is
printed, and the exit code is 3. Where none follows so soon, it prints up to
which tick the file agrees ("agreed" of --json, which is then before the tick).`,
		Flags:        []cli.Flag{jsonFlag, maxTicksFlag},
		OnUsageError: usageError,
		Action:       replaySeek,
	}
}

func replaySeek(c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("seek: got %s, want a replay file and a tick", count(c.NArg(), "argument"))
	}
	tick, err := strconv.ParseUint(c.Args().Get(1), 10, 32)
	if err != nil {
		return usagef("seek: got tick %q, want a number", c.Args().Get(1))
	}
	return withReplay(c.Args().First(), func(f *replayFile) error {
		r, err := f.reader()
		if err != nil {
			return err
		}
		from := time.Now()
		at, err := stateAt(c, r, lockstep.Tick(tick))
		if err != nil {
			return err
		}
		took := time.Since(from)
		if c.Bool("json") {
			return writeJSON(c.App.Writer, struct {
				Tick     lockstep.Tick `json:"tick"`
				Keyframe lockstep.Tick `json:"keyframe"`
				Agreed   lockstep.Tick `json:"agreed"` // as that of a Moment
				Checksum string        `json:"checksum,omitempty"`
				Bytes    int           `json:"bytes"`
				Seconds  float64       `json:"seconds"`
			}{at.Tick, at.Keyframe, at.Agreed, checksum.FormatHash(at.Hash), len(at.State), took.Seconds()})
		}
		_, err = fmt.Fprintf(c.App.Writer, "tick %d  %s  %s, simulated %s from the keyframe of tick %d in %s, %s\n", tick, checksum.FormatHash(at.Hash),
			size(len(at.State)), count(at.Tick-at.Keyframe, "tick"), at.Keyframe, seconds(took), at.agreement())
		return err
	})
}

// A moment is the state after a tick, and what describes it.
type moment struct {
	*replay.Moment
	schema *state.Schema
}

// agreement says up to where the file agrees with the state.
func (m *moment) agreement() string {
	text := fmt.Sprintf("agrees with the file up to tick %d", m.Agreed)
	if m.Agreed < m.Tick {
		text += "; no later check was reached"
	}
	return text
}

// warn prints up to where the file agrees if that is before the tick: for verbs
// that print the state itself.
func (m *moment) warn(c *cli.Context, file string) {
	if m.Agreed < m.Tick {
		fmt.Fprintf(c.App.ErrWriter, "samestep: %s: state of tick %d: %s\n", shown(file), m.Tick, m.agreement())
	}
}

// stateAt returns the state after a tick of a replay, simulated if it has no
// keyframe there.
func stateAt(c *cli.Context, r *replay.Reader, t lockstep.Tick) (*moment, error) {
	g, header, other := gameInFile(r)
	if header == nil {
		return nil, other
	}
	schema, err := state.ParseSchema(header.StateSchema)
	if err != nil {
		return nil, err
	}
	o, done := simulateOptions(c)
	m, err := replay.StateAt(r, g, t, o)
	done()
	var missing *replay.TickError
	switch {
	case errors.Is(err, replay.ErrNoGame):
		return nil, fmt.Errorf("tick %d has no keyframe and cannot be simulated: %w", t, other)
	case errors.As(err, &missing):
		return nil, usagef("tick %d: the replay has ticks %d to %d", missing.Tick, missing.First, missing.Last)
	case err != nil:
		return nil, err
	}
	return &moment{m, schema}, nil
}
