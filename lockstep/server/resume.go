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
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// Errors of [Server.Resume], besides those of [Server.Create] and [replay.ErrLocked].
var (
	// ErrNotInterrupted: the match of the file has ended.
	ErrNotInterrupted = errors.New("server: the match has ended")

	// ErrDamaged: the file is damaged before its end, so the match's last state cannot be read.
	ErrDamaged = errors.New("server: the replay is damaged inside")
)

// Resume continues the match of a replay that a crash left open, after the last tick in the file and under the name that
// the file has. Players return with their tokens, which must name their seats. The settings and the configuration are
// those of the file; Resume uses only Game, Host and OnStart of the spec. It simulates the end of the match, from the last
// keyframe but one, writes the whole match to a new file, and replaces the old file by the new one. If the end does not
// agree with the log, it simulates the whole match. Otherwise it compares the beginning in the background.
//
// A match that its rules have ended in the last tick of the file gets its end record if that is missing, and lingers as
// if it had ended now. With Options.KeepOpen that is only so without the end record, because the file of a match that is
// over looks as after a crash that followed it.
func (s *Server) Resume(path string, spec MatchSpec) (*Match, error) {
	x, err := s.claim(path, spec)
	if err != nil {
		return nil, err
	}
	s.awaitBans(x)
	if err := s.recoverMatch(x); err != nil {
		return nil, err
	}
	return x.match, nil
}

// A recovery is a match whose log is locked and whose name is reserved.
type recovery struct {
	match  *Match
	log    *os.File
	header *lockstep.Header
	phase  time.Duration
}

// claim locks the log of an interrupted match, and reserves the match's name.
func (s *Server) claim(path string, spec MatchSpec) (*recovery, error) {
	log, header, err := openInterrupted(path)
	if err != nil {
		return nil, err
	}
	x := &recovery{log: log, header: header}
	if spec.Name, err = resumedName(path, header); err == nil {
		spec.Settings = header.Settings
		x.phase, err = s.reserve(spec.Name, spec.Settings)
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	x.match = s.newMatch(spec)
	x.match.path = path
	x.match.know(header)
	s.mu.Lock()
	s.recoveries.pending[spec.Name] = newView(x.match, header, matchRecovering)
	s.mu.Unlock()
	return x, nil
}

// recoverMatch continues a claimed match.
func (s *Server) recoverMatch(x *recovery) error {
	m := x.match
	defer x.log.Close()
	s.launching.Add(1) // before start says that it is done
	defer s.launching.Done()
	prepare := func(phase time.Duration) error {
		if err := m.holdAssets(x.header); err != nil {
			return err
		}
		if err := m.openReplicated(x.header); err != nil {
			return err
		}
		s.replays.setLive(filepath.Base(m.path), true)
		if err := m.recoverFrom(x.log, phase); err != nil {
			s.replays.setLive(filepath.Base(m.path), false)
			return fmt.Errorf("server: %s: %w", m.path, err)
		}
		return nil
	}
	// A replay that is closed without an end can be resumed again.
	err := s.start(m, x.phase, prepare, func() { m.closeReplay() })
	if errors.Is(err, ErrNotInterrupted) && s.archived(m.path) != m.path {
		x.log.Close()
		if moved := s.archive(m.logger, m.path); moved != nil {
			err = errors.Join(err, moved)
		} else if m.replicated != nil {
			m.replicated.Drop()
			return err
		}
	}
	if err != nil {
		m.release(err)
		return err
	}
	if m.skipped > 0 {
		s.launching.Go(func() { s.compareSkipped(m) })
	}
	m.notifyStart()
	return nil
}

// resumedName returns the match's name in the path of a replay.
func resumedName(path string, h *lockstep.Header) (string, error) {
	base, end := filepath.Base(path), "-"+h.Match.String()[:8]+".ssr"
	name := MatchOfLog(path)
	if name+end != base || !matchName.MatchString(name) {
		return "", fmt.Errorf("%w: got the file name %q, want NAME%s", ErrName, base, end)
	}
	return name, nil
}

// openInterrupted opens and locks a replay that nobody writes, and reads its header.
func openInterrupted(path string) (*os.File, *lockstep.Header, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	h, err := lockInterrupted(f, path)
	if err != nil {
		f.Close() // this also releases the lock
		return nil, nil, err
	}
	return f, h, nil
}

// lockInterrupted locks the file of a path, and reads its header.
func lockInterrupted(f *os.File, path string) (*lockstep.Header, error) {
	if err := replay.Lock(f); err != nil {
		return nil, err
	}
	// Another server may have resumed the match, in a new file of this path, before the lock.
	now, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	info, err := f.Stat() // after the lock, because its writer may have written until then
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
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ErrNeverBegan
	}
	if err != nil {
		return nil, err
	}
	return rec.Header, nil
}

// recoverFrom creates the host of an interrupted match, and its new replay in the place of the old one.
func (m *Match) recoverFrom(old *os.File, phase time.Duration) error {
	size, err := old.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r, err := replay.NewReader(old, size)
	if err != nil {
		return err
	}
	part := m.path + ".part"
	os.Remove(part) // a crash can have left one
	if err := m.openWriter(part); err != nil {
		return err
	}
	if err = m.copyLog(r, phase); err == nil {
		err = replay.Replace(part, m.path)
	}
	if err != nil {
		m.abandon(part)
	}
	return err
}

// copyLog copies the log of an interrupted match to its new replay, and creates the host.
func (m *Match) copyLog(r *replay.Reader, phase time.Duration) error {
	recovery := host.NewRecovery(m.spec.Game)
	if keyframes := r.Index(); len(keyframes) > 2 {
		m.skipped = keyframes[len(keyframes)-2] // the last one is compared
		recovery.SkipTo(m.skipped)
	}
	found, err := replay.Continue(m.writer, r, recovery)
	switch {
	case err != nil:
		return err
	case found.Damage == nil && (r.Finished() || m.server.options.KeepOpen):
		return ErrNotInterrupted
	case found.Damage == nil: // the host says whether the rules have ended it
	case found.Damage.Next > 0 || !errors.Is(found.Damage, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", ErrDamaged, found.Damage)
	}
	if m.skipped > 0 && recovery.Check() != nil {
		if recovery, err = wholeRecovery(m.spec.Game, r); err != nil {
			return err
		}
		m.skipped = 0
	}
	m.epoch = time.Now().Add(-phase)
	if err := m.restore(recovery); err != nil {
		return err
	}
	m.invited, m.paused = recovery.Invitations(), recovery.Paused()
	if m.host, err = recovery.Host(m.now(), m.hostOptions()); errors.Is(err, coordinator.ErrEnded) {
		return ErrNotInterrupted
	} else if err != nil {
		return err
	}
	if err := m.restoreBans(); err != nil {
		return err
	}
	m.awaitUntil = time.Now().Add(m.server.options.AwaitPlayers)
	m.hold() // before the first tick
	_, concluded := m.host.Result()
	if _, err := recovery.Disclosure(); err != nil && !concluded { // a server of an older version began the match
		m.rememberDisclosure()
	}
	if m.process(); m.host.Err() != nil && !concluded {
		return m.host.Err()
	}
	if err := m.writer.Flush(); err != nil {
		return err
	}
	if m.writer.Full() {
		return replay.ErrDiskFull
	}
	m.recovered = m.writer.Size()
	return m.file.Sync()
}

// wholeRecovery simulates the whole match of r.
func wholeRecovery(g *lockstep.Game, r *replay.Reader) (*host.Recovery, error) {
	again, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	whole := host.NewRecovery(g)
	for _, err := range again.All() {
		if damage := (*replay.DamageError)(nil); errors.As(err, &damage) {
			break // the end of the log
		}
		if err == nil {
			err = whole.Append(again.Record())
		}
		if err != nil {
			return nil, err
		}
	}
	return whole, nil
}
