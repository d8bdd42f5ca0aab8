package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A subject is a file that is compared: a replay, a bundle, or a state.
type subject struct {
	name   string
	file   *os.File
	inner  *os.File // the replay of a bundle, or nil
	size   int64
	bundle *replay.Bundle // nil unless it is one
	replay bool           // it is one
	game   *lockstep.Game // of the replay, if it is at hand
	other  error          // why it is not
	header *lockstep.Header
}

// openSubject opens a file. What it is, its first bytes tell.
func openSubject(name string) (*subject, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	s := &subject{name: name, file: f}
	if err := s.open(); err != nil {
		s.close()
		return nil, s.error(err)
	}
	return s, nil
}

func (s *subject) close() {
	s.file.Close()
	if s.inner != nil {
		discard(s.inner)
	}
}

// error names the file in an error.
func (s *subject) error(err error) error {
	if err == nil || errors.Is(err, errUsage) {
		return err
	}
	return &fileError{s.name, err}
}

func (s *subject) open() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	var head [8]byte
	n, err := s.file.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	s.replay = bytes.HasPrefix(head[:n], []byte("\x89SSR"))
	if s.bundle, s.inner, err = unbundle(s.file); err != nil || !s.hasReplay() {
		return err
	}
	r, err := s.reader()
	if err != nil {
		return err
	}
	return s.readHeader(r)
}

// hasReplay reports whether it is a replay, or has one in it.
func (s *subject) hasReplay() bool { return s.replay || s.bundle != nil }

// reader returns a Reader of the replay, from its beginning on.
func (s *subject) reader() (*replay.Reader, error) {
	if s.inner != nil {
		return readerOf(s.inner)
	}
	return replay.NewReader(s.file, s.size)
}

func (s *subject) readHeader(r *replay.Reader) error {
	s.game, s.header, s.other = gameInFile(r)
	if s.header == nil {
		return s.other
	}
	return nil
}

// schema returns what describes the subject's states, or nil if it does not say.
func (s *subject) schema() (*state.Schema, error) {
	if s.header == nil {
		return nil, nil
	}
	schema, err := state.ParseSchema(s.header.StateSchema)
	return schema, s.error(err)
}

// tick returns the tick whose states are compared unless another one is asked
// for: that of a bundle.
func (s *subject) tick() (lockstep.Tick, bool) {
	if s.bundle == nil {
		return 0, false
	}
	return s.bundle.Manifest.Tick, true
}

// state returns the state after a tick; of a bundle, the referee's or the
// player's.
func (s *subject) state(c *cli.Context, t lockstep.Tick, referee bool) ([]byte, error) {
	b, err := func() ([]byte, error) {
		switch {
		case s.bundle != nil:
			return s.exhibit(t, referee)
		case !s.replay:
			return s.bytes()
		}
		r, err := s.reader()
		if err != nil {
			return nil, err
		}
		at, err := stateAt(c, r, t)
		if err != nil {
			return nil, err
		}
		at.warn(c, s.name)
		return at.State, nil
	}()
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

// bytes returns a file that is a state.
func (s *subject) bytes() ([]byte, error) {
	if s.size > lockstep.MaxStateSize {
		return nil, fmt.Errorf("%d bytes, want a state of at most %d", s.size, lockstep.MaxStateSize)
	}
	b := make([]byte, s.size)
	_, err := s.file.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b, err
}
