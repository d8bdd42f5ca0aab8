package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// Errors of [Server.Resume], beside those of Create and replay.ErrLocked.
var (
	// ErrNotInterrupted: the match of a file has ended; there is nothing to go on
	// with.
	ErrNotInterrupted = errors.New("server: the match has ended")

	// ErrDamaged: the file is damaged inside. What can be read of it is not the
	// match's last state.
	ErrDamaged = errors.New("server: the replay is damaged inside")
)

// Resume goes on with the match of a replay that a crash left open, under the
// name that the file has, after the last tick that is in it. Players come back with
// their tokens, which must name their seats. Settings and configuration are the
// file's; of the spec, Game, Host and Begun are used. The whole match is simulated
// once, and its file is written anew beside the old one, whose place it takes.
func (s *Server) Resume(path string, spec MatchSpec) (*Match, error) {
	old, header, err := openInterrupted(path)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	if spec.Name, err = resumedName(path, header); err != nil {
		return nil, err
	}
	spec.Settings = header.Settings
	m := s.newMatch(spec)
	m.path = path
	prepare := func(phase time.Duration) error {
		s.recordings.written(filepath.Base(path), true)
		if err := m.goOn(old, phase); err != nil {
			s.recordings.written(filepath.Base(path), false)
			return fmt.Errorf("server: %s: %w", path, err)
		}
		return nil
	}
	// Without an end, the match stays interrupted and can be resumed later.
	if err := s.launch(m, prepare, func() { m.closeReplay() }); err != nil {
		return nil, err
	}
	m.begun()
	return m, nil
}

// resumedName returns the name of the match that a server wrote to a path.
func resumedName(path string, h *lockstep.Header) (string, error) {
	base, end := filepath.Base(path), "-"+h.Match.String()[:8]+".ssr"
	if len(base) <= len(end) || base[len(base)-len(end):] != end || !nameForm.MatchString(base[:len(base)-len(end)]) {
		return "", fmt.Errorf("%w: got a file of the name %q, want NAME%s", ErrName, base, end)
	}
	return base[:len(base)-len(end)], nil
}

// openInterrupted opens a replay that nobody writes, and reads its header.
func openInterrupted(path string) (*os.File, *lockstep.Header, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	h, err := lockInterrupted(f, path)
	if err != nil {
		f.Close() // and with it the lock is gone
		return nil, nil, err
	}
	return f, h, nil
}

// lockInterrupted locks the file of a path, and reads its header.
func lockInterrupted(f *os.File, path string) (*lockstep.Header, error) {
	if err := replay.Lock(f); err != nil {
		return nil, err
	}
	// Somebody may have gone on with it before it was locked, in a new file.
	now, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	info, err := f.Stat() // its writer may have added to it before it was locked
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if !os.SameFile(now, info) {
		return nil, fmt.Errorf("server: %s: %w", path, replay.ErrLocked)
	}
	r, err := replay.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	rec, err := r.Next()
	if err != nil {
		return nil, err
	}
	return rec.Header, nil
}

// goOn makes the host that goes on with an interrupted match, and its replay.
func (m *Match) goOn(old *os.File, phase time.Duration) error {
	size, err := old.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r, err := replay.NewReader(old, size)
	if err != nil {
		return err
	}
	beside := m.path + ".part"
	os.Remove(beside) // of an attempt that was interrupted, too
	if err := m.openWriter(beside); err != nil {
		return err
	}
	if err = m.takeUp(r, phase); err == nil {
		err = replay.Replace(beside, m.path)
	}
	if err != nil {
		m.abandon(beside)
	}
	return err
}

// takeUp copies what is left of a match and makes the host that goes on with it.
func (m *Match) takeUp(r *replay.Reader, phase time.Duration) error {
	recovery := host.NewRecovery(m.spec.Game)
	found, err := replay.Continue(m.writer, r, recovery)
	switch {
	case err != nil:
		return err
	case found.Damage == nil:
		return ErrNotInterrupted
	case found.Damage.Next > 0 || !errors.Is(found.Damage, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", ErrDamaged, found.Damage)
	}
	m.epoch = time.Now().Add(-phase)
	if m.host, err = recovery.Host(m.now(), m.writer, m.hostOptions()); err != nil {
		return err
	}
	if err := m.writer.Flush(); err != nil {
		return err
	}
	if m.writer.Full() {
		return replay.ErrDiskFull
	}
	return m.file.Sync()
}
