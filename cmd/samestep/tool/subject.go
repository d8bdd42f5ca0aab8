//go:build !js

package tool

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

// A subject is a file to compare: a replay, a bundle, or a state. A bundle of a panic has no states, and counts as its replay.
type subject struct {
	*replay.File
	isReplay bool
	header   *lockstep.Header // of the replay; nil for a state
	game     *lockstep.Game   // of the replay, if this program has it
}

// openSubject opens a file, and tells its type by the first bytes.
func openSubject(c *cli.Context, name string) (*subject, error) {
	f, err := openReplay(name)
	if err != nil {
		return nil, err
	}
	s := &subject{File: f}
	replays, err := beginsAsReplay(f)
	s.isReplay = replays && (f.Bundle() == nil || f.Bundle().Manifest.Panic != nil)
	if err == nil && replays {
		var noGame error
		if s.game, s.header, noGame = gameIn(c, f); s.header == nil {
			err = noGame
		}
	}
	if err != nil {
		f.Close()
		return nil, s.error(err)
	}
	return s, nil
}

// beginsAsReplay reports whether a file is a bundle, or begins with the first bytes of a replay.
func beginsAsReplay(f *replay.File) (bool, error) {
	if f.Bundle() != nil {
		return true, nil
	}
	head, err := matchlines.FirstBytes(f)
	return head == "\x89SSR", err
}

// error adds the name of the file to err.
func (s *subject) error(err error) error { return ofFile(s.Path(), err) }

// schema returns the schema of the subject's states, or nil for a file that is only a state.
func (s *subject) schema() (*state.Schema, error) {
	if s.header == nil {
		return nil, nil
	}
	schema, err := state.ParseSchema(s.header.StateSchema)
	return schema, s.error(err)
}

// state returns the state after a tick. Of a bundle, it returns the referee's or the player's.
func (s *subject) state(c *cli.Context, t lockstep.Tick, referee bool) (b []byte, err error) {
	switch {
	case s.Bundle() != nil:
		b, err = s.exhibit(t, referee)
	case !s.isReplay:
		b, err = s.bytes()
	default:
		var at *replay.Moment
		if at, err = stateAt(c, s.File, t); err == nil {
			warn(c, at, s.Path())
			b = at.State
		}
	}
	return b, s.error(err)
}

// exhibit returns a state of a bundle.
func (s *subject) exhibit(t lockstep.Tick, referee bool) ([]byte, error) {
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
func (s *subject) bytes() ([]byte, error) {
	content, size, err := s.Content()
	if err != nil {
		return nil, err
	}
	if size > lockstep.MaxStateSize {
		return nil, fmt.Errorf("%d bytes, want a state of at most %d", size, lockstep.MaxStateSize)
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}
