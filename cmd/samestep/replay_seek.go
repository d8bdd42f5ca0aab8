package main

import (
	"errors"
	"fmt"
	"io"
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
one interval of keyframes. See dump --tick for the state itself.`,
		Flags:        []cli.Flag{jsonFlag},
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
		at, err := stateAt(r, lockstep.Tick(tick))
		if err != nil {
			return err
		}
		took := time.Since(from)
		if c.Bool("json") {
			return writeJSON(c.App.Writer, struct {
				Tick     lockstep.Tick `json:"tick"`
				Keyframe lockstep.Tick `json:"keyframe"`
				Checksum string        `json:"checksum,omitempty"`
				Bytes    int           `json:"bytes"`
				Seconds  float64       `json:"seconds"`
			}{lockstep.Tick(tick), at.keyframe, at.root, len(at.state), took.Seconds()})
		}
		_, err = fmt.Fprintf(c.App.Writer, "tick %d  %s  %s, simulated %s from the keyframe of tick %d in %s\n", tick, at.root,
			size(len(at.state)), count(lockstep.Tick(tick)-at.keyframe, "tick"), at.keyframe, seconds(took))
		return err
	})
}

// A moment is the state after a tick.
type moment struct {
	state    []byte // canonical bytes
	root     string // its checksum
	schema   *state.Schema
	keyframe lockstep.Tick // it was simulated from there
}

// stateAt returns the state after tick t: that of its keyframe, or else
// simulated from the keyframe before it.
func stateAt(r *replay.Reader, t lockstep.Tick) (*moment, error) {
	s := seeker{tick: t, moment: &moment{}}
	var err error
	if s.moment.keyframe, err = r.Seek(t); err != nil {
		return nil, err
	}
	err = replay.Play(r, nil, s.record)
	switch {
	case errors.Is(err, errStop):
		return s.moment, nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case s.other != nil:
		return nil, fmt.Errorf("tick %d has no keyframe and cannot be simulated: %w", t, s.other)
	}
	return nil, usagef("tick %d: the replay has ticks 0 to %d", t, s.last)
}

// A seeker follows a match up to a tick.
type seeker struct {
	*moment
	tick     lockstep.Tick
	last     lockstep.Tick
	follower *lockstep.Follower
	other    error // why there is no follower
}

func (s *seeker) record(rec *lockstep.Record) error {
	s.last = max(s.last, rec.Tick)
	switch {
	case rec.Kind == lockstep.RecordHeader:
		var err error
		if s.schema, err = state.ParseSchema(rec.Header.StateSchema); err != nil {
			return err
		}
		var g *lockstep.Game
		if g, s.other = gameOf(rec.Header); s.other == nil {
			s.follower = g.NewFollower(lockstep.FollowerOptions{})
		}
	case rec.Kind == lockstep.RecordKeyframe && rec.Tick == s.tick:
		s.state = append([]byte{}, rec.Keyframe.State...)
		s.root = checksum.FormatRoot(rec.Keyframe.Root)
		return errStop
	}
	if s.follower == nil {
		return nil
	}
	return s.apply(rec)
}

// apply applies a record, and stops at the tick.
func (s *seeker) apply(rec *lockstep.Record) error {
	f := s.follower
	if rec.Kind == lockstep.RecordEmpty && rec.Tick >= s.tick {
		for f.Tick() < s.tick {
			if err := f.Advance(&lockstep.Frame{Tick: f.Tick() + 1}); err != nil {
				return err
			}
		}
	} else if err := f.Apply(rec); err != nil {
		if desync := (*lockstep.DesyncError)(nil); !errors.As(err, &desync) {
			return err // a state is asked for, not whether it is the right one
		}
	}
	if f.Simulation() != nil && f.Tick() == s.tick {
		s.state = f.Simulation().AppendState(nil)
		s.root = checksum.FormatRoot(f.Simulation().Root())
		return errStop
	}
	return nil
}
