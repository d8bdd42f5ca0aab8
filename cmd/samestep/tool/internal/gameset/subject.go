//go:build !js

package gameset

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Subject is a file to compare: a replay, a bundle, or a state. A bundle of a panic has no states, and counts as its replay.
type Subject struct {
	*replay.File
	IsReplay bool
	Head     *lockstep.Header // of the replay; nil for a state
	Game     *lockstep.Game   // of the replay, if this program has it
}

// OpenSubject opens a file, and tells its type by the first bytes.
func OpenSubject(c *cli.Context, name string) (*Subject, error) {
	f, err := OpenReplay(name)
	if err != nil {
		return nil, err
	}
	s := &Subject{File: f}
	replays, err := BeginsAsReplay(f)
	s.IsReplay = replays && (f.Bundle() == nil || f.Bundle().Manifest.Panic != nil)
	if err == nil && replays {
		var noGame error
		if s.Game, s.Head, noGame = GameIn(c, f); s.Head == nil {
			err = noGame
		}
	}
	if err != nil {
		f.Close()
		return nil, s.Error(err)
	}
	return s, nil
}

// BeginsAsReplay reports whether a file is a bundle, or begins with the first bytes of a replay.
func BeginsAsReplay(f *replay.File) (bool, error) {
	if f.Bundle() != nil {
		return true, nil
	}
	head, err := matchlines.FirstBytes(f)
	return head == "\x89SSR", err
}

// Error adds the name of the file to err.
func (s *Subject) Error(err error) error { return OfFile(s.Path(), err) }

// Schema returns the schema of the subject's states, or nil for a file that is only a state.
func (s *Subject) Schema() (*state.Schema, error) {
	if s.Head == nil {
		return nil, nil
	}
	schema, err := state.ParseSchema(s.Head.StateSchema)
	return schema, s.Error(err)
}

// State returns the state after a tick. Of a bundle, it returns the referee's or the player's.
func (s *Subject) State(c *cli.Context, t lockstep.Tick, referee bool) (b []byte, err error) {
	switch {
	case s.Bundle() != nil:
		b, err = s.exhibit(t, referee)
	case !s.IsReplay:
		b, err = s.bytes()
	default:
		var at *replay.Moment
		if at, err = StateAt(c, s.File, t); err == nil {
			Warn(c, at, s.Path())
			b = at.State
		}
	}
	return b, s.Error(err)
}

// exhibit returns a state of a bundle.
func (s *Subject) exhibit(t lockstep.Tick, referee bool) ([]byte, error) {
	m := &s.Bundle().Manifest
	i := slices.IndexFunc(m.Exhibits, func(x replay.BundleExhibit) bool { return x.Tick == t })
	if i < 0 {
		return nil, console.Usagef("%s: the bundle has no states of tick %d", s.Path(), t)
	}
	name, whose := m.Exhibits[i].Player, "player's"
	if referee {
		name, whose = m.Exhibits[i].Referee, "referee's"
	}
	if name == "" {
		return nil, fmt.Errorf("the bundle does not have the %s state of tick %d", whose, t)
	}
	return s.Bundle().State(name)
}

// bytes returns the content of a file that is a state.
func (s *Subject) bytes() ([]byte, error) {
	content, size, err := s.Content()
	if err != nil {
		return nil, err
	}
	if size > lockstep.MaxStateSize {
		return nil, fmt.Errorf("%d bytes, want a state of at most %d", size, lockstep.MaxStateSize)
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}
