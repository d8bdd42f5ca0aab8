package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server/internal/hold"
	"github.com/seed-49bee653/samestep/server/internal/livelog"
)

// holdReasons are the reasons that samestep_held_matches always has. Others appear with their first match.
var holdReasons = []string{livelog.HeldByFullDisk, livelog.HeldBySlowDisk, livelog.HeldByReplicas, hold.ByAdmin, hold.ForPlayers}

// openLog creates the file of the log at a path, from which the caller may move it to that of the match.
func (m *Match) openLog(path string) (err error) {
	f, err := m.server.newFile(path)
	if err != nil {
		m.server.metrics.failures.Inc()
		return storageFailed(err)
	}
	_, onDisk := f.(*os.File)
	m.log.Open(m.path, timedFile{f, m.server.metrics.writes, &m.server.operations}, onDisk, m.server.options.Durability)
	return nil
}

// closeReplay closes the replay's file, and ends its writer's goroutine.
func (m *Match) closeReplay() error {
	err := m.log.Close()
	m.server.replays.setLive(filepath.Base(m.path), false)
	return err
}

// record gives the host's records to the replay. They are visible at once, or when they are synced.
func (m *Match) record(r *host.Ready) {
	if m.log.Recorded() && len(r.Records) > 0 {
		began := m.now()
		err := r.AppendTo(&m.log)
		if err == nil && m.stands() {
			err = m.log.Flush() // no tick does it
		}
		m.load.now.writes += m.now() - began
		if err != nil {
			m.logFailed(err)
			return
		}
	}
	m.log.Wrote(r.Position)
	if !m.log.Waited() {
		m.host.Persisted(m.now(), r.Position)
	}
}

// stands reports whether no ticks come that would write records to the file.
func (m *Match) stands() bool {
	s := m.host.Status()
	return s.InLobby || s.Paused || s.Held != ""
}

// logFailed ends the match because its file failed. A match with a replicated log goes on elsewhere.
func (m *Match) logFailed(err error) {
	if m.log.Replicated() {
		m.handOver(err)
	} else {
		m.host.Fail(m.now(), err)
	}
}

// maintainReplay ends the match after a failed sync or at the size limit, and tells the host what is safe on disk.
func (m *Match) maintainReplay() {
	s := m.log.Maintain(time.Now())
	if s.Safe > 0 {
		m.host.Persisted(m.now(), s.Safe)
	}
	switch {
	case s.Refused != nil:
		m.handOver(s.Refused)
	case m.host.Err() != nil || !m.log.Recorded():
	case s.Failed != nil:
		m.logFailed(s.Failed)
	default:
		if most := m.maxReplay(); m.log.Size() >= most {
			m.host.Admin().End(m.now(), fmt.Sprintf("the replay has %d bytes, want at most %d", m.log.Size(), most)) // its error is also in Err
		}
	}
}

// maxReplay returns the size limit of the match's replay.
func (m *Match) maxReplay() int64 {
	o := m.server.gates.limits.Load()
	most := o.MatchDiskBytes
	if most < 0 {
		most = math.MaxInt64
	}
	if m.spec.guest != nil {
		most = min(most, int64(o.GuestDiskBytes))
	}
	return most
}

// finish completes the replay.
func (m *Match) finish() {
	m.load.log(m.logger)
	m.releaseFirst()
	m.bundles.End()
	var err error
	if m.log.Recorded() {
		err = m.closeReplay() // bundles wait for what it writes
	}
	m.bundles.Wait()
	if !m.log.Recorded() {
		m.forgetBans()
		return
	}
	if err != nil {
		m.server.metrics.failures.Inc()
		m.logger.Error("replay", "path", m.path, "err", err)
		m.flushReplicated()
		m.log.Release(nil)
		m.leaveOpen()
		return
	}
	stored := m.flushReplicated()
	if m.host.Err() == nil || m.log.Replicated() && (m.suspended || !stored) { // suspended, or our own code panicked: the replay has no end
		m.log.Release(m.failure)
		m.leaveOpen()
		return
	}
	if err = m.server.sealer.archive(m.logger, m.path, m.owners.Subjects()); err != nil {
		if !m.log.ToldLost() {
			m.server.metrics.failures.Inc()
		}
		m.logger.Error("archive", "path", m.path, "err", err)
		m.log.Release(err) // its log is complete, so any server can archive it
		return
	}
	m.finished.Store(true)
	m.forgetBans()
	m.log.Drop()
}

// releaseFirst lets another server continue a match that was suspended, while the disk of this one does not answer. Nobody
// needs the file.
func (m *Match) releaseFirst() {
	if m.log.Replicated() && m.suspended && m.log.Held() == livelog.HeldBySlowDisk {
		m.leaveOpen()
		m.flushReplicated()
		m.log.Leave(m.failure)
	}
}

// leaveOpen says that the log has no end, or that its end is not stored: a server may continue the match.
func (m *Match) leaveOpen() {
	last := m.Status()
	last.over = false
	m.status.Store(&last)
}

// openReplicated opens the replicated log, if the server has any.
func (m *Match) openReplicated(h *lockstep.Header) (err error) {
	if r := m.server.options.Replicator; r != nil {
		var log ReplicatedLog
		if log, err = r.Open(m.spec.Name, h); log != nil {
			m.log.Replicate(m.path, log)
		}
	}
	if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrShutdown) {
		err = storageFailed(err)
	}
	return err
}

// flushReplicated waits until the replicated log, if there is one, has all records. If that fails, another server will
// continue the match, even if it is over here.
func (m *Match) flushReplicated() (all bool) {
	if m.log.Released() {
		return true
	}
	err := m.log.Stored()
	if err != nil && !errors.Is(err, ErrNotOwner) {
		m.server.metrics.failures.Inc()
		m.logger.Error("replicated log", "err", err)
	}
	return err == nil
}

// ErrStorage is wrapped by the errors of [Server.Create] when the match's replay cannot be written.
var ErrStorage = errors.New("server: the replay of another match cannot be stored")

// A storageError says without a path why a replay cannot be stored, so that clients may read it.
type storageError struct{ why string }

func (e *storageError) Error() string { return ErrStorage.Error() + ": " + e.why }

func (e *storageError) Unwrap() error { return ErrStorage }

// storageFailed wraps [ErrStorage] around an error, or returns nil.
func storageFailed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStorage, err)
}

const (
	// storageAge is the time for which the result of a check of the folder is used.
	storageAge = time.Second

	// storageWait is how long a call waits for a check. Then it gets the answer of the one before.
	storageWait = 100 * time.Millisecond

	// storagePatience is the time after which a check counts as failed: a broken network disk never answers.
	storagePatience = 2 * time.Second

	// probeSize is the number of bytes that a check writes.
	probeSize = 4 << 10
)

// A storage knows whether the folder of the replays can take another one.
type storage struct {
	dir     string       // "" for none
	live    string       // the folder in dir of replays that are written
	reserve func() int64 // the least free bytes
	free    func(dir string) (bytes int64, known bool)
	log     *slog.Logger

	operations *operations

	mu      sync.Mutex
	running chan struct{} // closed when the present check has ended; nil without one
	began   time.Time     // when the present check did
	at      time.Time     // when the last check ended
	bytes   int64         // free, or -1 if unknown
	err     error
}

// check returns the free bytes, or -1 if they are unknown, and an error if the folder cannot take another replay. The
// error has no path. Calls at the same time share one check. They get an older answer if the disk takes long.
func (s *storage) check() (free int64, err error) {
	if s.dir == "" {
		return -1, nil
	}
	s.mu.Lock()
	if s.running == nil && (s.at.IsZero() || time.Since(s.at) >= storageAge) {
		s.running, s.began = make(chan struct{}), time.Now()
		go s.update(s.running)
	}
	running := s.running
	wait := storageWait - time.Since(s.began)
	if s.at.IsZero() { // there is no answer before it
		wait = storagePatience - time.Since(s.began)
	}
	s.mu.Unlock()
	if running != nil && wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-running:
		case <-timer.C:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil && time.Since(s.began) >= storagePatience {
		s.note(-1, errStuck)
	}
	return s.bytes, s.err
}

var errStuck = &storageError{"its disk does not answer"}

// update looks at the disk.
func (s *storage) update(done chan struct{}) {
	o := s.operations.begin()
	free, err := s.look()
	s.operations.end(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(free, err)
	s.at, s.running = time.Now(), nil
	close(done)
}

// note takes an answer, and logs a change. The mutex is held.
func (s *storage) note(free int64, err error) {
	if before := s.err; err != nil && (before == nil || before.Error() != err.Error()) {
		s.log.Warn("storage", "dir", s.dir, "free", free, "err", err)
	} else if err == nil && before != nil {
		s.log.Info("storage", "dir", s.dir, "free", free, "err", "")
	}
	s.bytes, s.err = free, err
}

// look measures the free bytes, and does with a small file what is done with a replay.
func (s *storage) look() (free int64, err error) {
	free = -1
	if n, known := s.free(s.dir); known {
		free = n
	}
	switch err := writeProbe(s.live, s.dir); {
	case errors.Is(err, fs.ErrNotExist):
		return free, &storageError{"its folder is gone"}
	case free >= 0 && free < s.reserve():
		return free, &storageError{"its disk is full"}
	case err != nil:
		return free, &storageError{"its folder cannot be written to"}
	}
	return free, nil
}

// writeProbe writes a file to the folder live, moves it to dir and removes it there.
func writeProbe(live, dir string) error {
	name := fmt.Sprintf(".probe-%d", os.Getpid()) // at most one stays after a crash
	from, to := filepath.Join(live, name), filepath.Join(dir, name)
	err := os.WriteFile(from, make([]byte, probeSize), 0o600)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		os.Remove(from)
		return err
	}
	return os.Remove(to)
}
