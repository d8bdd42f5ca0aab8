package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

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
