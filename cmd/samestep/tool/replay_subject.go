package tool

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A subject is a file to compare: a replay, a bundle, or a state.
type subject struct {
	*replayFile
	isReplay bool
	header   *lockstep.Header // of the replay; nil for a state
	game     *lockstep.Game   // of the replay, if this program has it
	noGame   error            // why game is nil
}

// openSubject opens a file, and tells its type by the first bytes.
func openSubject(name string) (*subject, error) {
	f, err := openReplay(files.Open, name)
	if err != nil {
		return nil, err
	}
	s := &subject{replayFile: f}
	var head [4]byte
	n, err := f.file.ReadAt(head[:], 0)
	if err == nil || err == io.EOF {
		err = nil
		s.isReplay = f.bundle == nil && bytes.Equal(head[:n], []byte("\x89SSR"))
	}
	if err == nil && s.hasReplay() {
		if s.game, s.header, s.noGame = f.game(); s.header == nil {
			err = s.noGame
		}
	}
	if err != nil {
		s.close()
		return nil, s.error(err)
	}
	return s, nil
}

// hasReplay reports whether the file is a replay or a bundle.
func (s *subject) hasReplay() bool { return s.isReplay || s.bundle != nil }

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
	case s.bundle != nil:
		b, err = s.exhibit(t, referee)
	case !s.isReplay:
		b, err = s.bytes()
	default:
		var at *moment
		if at, err = s.stateAt(c, t); err == nil {
			at.warn(c, s.name)
			b = at.State
		}
	}
	return b, s.error(err)
}

// exhibit returns a state of a bundle.
func (s *subject) exhibit(t lockstep.Tick, referee bool) ([]byte, error) {
	m := &s.bundle.Manifest
	i := slices.IndexFunc(m.Exhibits, func(x replay.BundleExhibit) bool { return x.Tick == t })
	if i < 0 {
		return nil, usagef("%s: the bundle has no states of tick %d", s.name, t)
	}
	name, whose := m.Exhibits[i].Player, "player's"
	if referee {
		name, whose = m.Exhibits[i].Referee, "referee's"
	}
	if name == "" {
		return nil, fmt.Errorf("the bundle does not have the %s state of tick %d", whose, t)
	}
	return s.bundle.State(name)
}

// bytes returns the content of a file that is a state.
func (s *subject) bytes() ([]byte, error) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > lockstep.MaxStateSize {
		return nil, fmt.Errorf("%d bytes, want a state of at most %d", info.Size(), lockstep.MaxStateSize)
	}
	return io.ReadAll(io.NewSectionReader(s.file, 0, info.Size()))
}
