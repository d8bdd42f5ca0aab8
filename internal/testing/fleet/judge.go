//go:build unix

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Judgement compares the replay of a match with what its players were told.
type Judgement struct {
	Ticks     lockstep.Tick
	Checked   int           // checksums and keyframes that were compared
	Differed  int           // of these
	Desyncs   int           // that players were told of
	Accepted  int           // commands of the players, for ticks up to the end
	Lost      int           // of these, how many are not in the replay
	Moved     int           // of these, how many ran later than promised: their server was lost before that tick
	Twice     int           // commands that are in the replay more than once
	Seen      int           // states of players that were compared
	Forked    int           // of these, how many are not the replay's: another server has told them another match
	LostTicks lockstep.Tick // that a player has seen after the end of the replay
}

// Right reports whether nothing is lost, doubled or different.
func (j *Judgement) Right() bool {
	return j.Differed == 0 && j.Desyncs == 0 && j.Lost == 0 && j.Twice == 0 && j.Forked == 0 && j.LostTicks == 0
}

// Replay waits for the replay of a match that is over, and returns its path. There must be exactly one.
func (f *Fleet) Replay(ctx context.Context, match string) (string, error) {
	for {
		all, err := filepath.Glob(filepath.Join(f.o.Dir, "server-*", match+"-*.ssr"))
		if err != nil {
			return "", err
		}
		switch len(all) {
		case 1:
			return all[0], nil
		case 0:
		default:
			return "", fmt.Errorf("fleet: the match has %d replays: %q", len(all), all)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("fleet: no replay of match %s: %w", match, ctx.Err())
		}
	}
}

// Judge verifies a replay, and compares it with what players have seen.
func Judge(path string, g *lockstep.Game, players []*Player) (*Judgement, error) {
	f, err := replay.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{})
	if differs := (*lockstep.DesyncError)(nil); err != nil && !errors.As(err, &differs) {
		return nil, err
	}
	j := &Judgement{Ticks: v.Ticks, Checked: v.Checked, Differed: v.Differed}
	given, err := j.commands(f)
	if err != nil {
		return nil, err
	}
	for _, p := range players {
		s := p.Seen()
		j.Desyncs += s.Desyncs
		for seq, tick := range s.Accepted {
			ran, there := given[command{p.Seat, seq}]
			switch {
			case tick > v.Ticks: // the match ended before
				continue
			case !there:
				j.Lost++
			case ran != tick:
				j.Moved++
			}
			j.Accepted++
		}
		if s.Tick > v.Ticks {
			j.LostTicks = max(j.LostTicks, s.Tick-v.Ticks)
		}
	}
	return j, j.states(r, g, players)
}

// states compares what players have seen of the match with the states of the replay.
func (j *Judgement) states(r *replay.Reader, g *lockstep.Game, players []*Player) error {
	var all []Seen
	for _, p := range players {
		s := p.Seen()
		s.Hashes[s.Tick] = s.Hash
		all = append(all, s)
	}
	c, err := replay.NewCursor(r, g, 0)
	for err == nil {
		for _, s := range all {
			if hash, seen := s.Hashes[c.Tick()]; seen {
				j.Seen++
				if hash != c.Simulation().Hash() {
					j.Forked++
				}
			}
		}
		err = c.Step()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A command names a command.
type command struct {
	player lockstep.Player
	seq    lockstep.Sequence
}

// commands returns the ticks of all commands in a replay, and counts those that are there more than once.
func (j *Judgement) commands(f *replay.File) (map[command]lockstep.Tick, error) {
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	all := make(map[command]lockstep.Tick)
	tick := lockstep.Tick(0)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for frame := range rec.Frames() {
			tick++
			for _, c := range frame.Commands {
				name := command{c.Player, c.Sequence}
				if _, twice := all[name]; twice {
					j.Twice++
				}
				all[name] = tick
			}
		}
	}
}
