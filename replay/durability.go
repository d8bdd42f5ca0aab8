package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Durability says when a Writer syncs the file, so that it survives a crash of the machine. It matters only if the
// destination has a method Sync, like an *os.File.
type Durability uint8

const (
	// SyncInterval syncs every SyncEvery, concurrently with the match. A crash of the machine loses no more than that
	// time, the ticks of FlushTicks, and the time of one sync.
	SyncInterval Durability = iota

	// SyncFrame syncs after each tick, before Append returns, so nobody sees a tick that a crash could take back. Each
	// tick takes as long as the disk. Checksums, notes and events are synced with the next tick: checksums can be computed
	// again, and no state depends on the others.
	SyncFrame

	// SyncNone leaves it to the operating system, and to Close.
	SyncNone

	// SyncCommit syncs when [Writer.Commit] asks for it, concurrently with the match. A caller that shows a tick only
	// after its commit gets the guarantee of SyncFrame, and never waits for the disk.
	SyncCommit
)

var durabilityNames = [...]string{"interval", "frame", "none", "commit"}

// String returns the durability's name, which ParseDurability accepts.
func (d Durability) String() string { return durabilityNames[d] }

// ParseDurability returns the durability of a name: none, interval or frame.
func ParseDurability(name string) (Durability, error) {
	for _, d := range []Durability{SyncNone, SyncInterval, SyncFrame} {
		if name == d.String() {
			return d, nil
		}
	}
	return 0, fmt.Errorf("replay: durability: got %q, want none, interval or frame", name)
}

// ErrDiskFull is wrapped by the error of a Writer that ran out of room. The file is whole, up to a torn block at the
// end.
var ErrDiskFull = errors.New("the disk is full")

// writeError names the reasons that callers distinguish. It omits the path: players see the error, and must not learn a
// server's folders.
func writeError(at int64, err error) error {
	if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
		err = fmt.Errorf("%s: %w", inPath.Op, inPath.Err)
	}
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return fmt.Errorf("replay: write at byte %d: %w", at, err)
}

// isFull reports whether an error says that the disk or the user's quota is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// A file that can be synced.
type syncFile interface{ Sync() error }

// A committer syncs a file in its own goroutine, so ticks never wait for the disk. It never repeats a failed sync: the
// operating system may have dropped the data, and would report success.
type committer struct {
	file    syncFile
	every   time.Duration
	dirty   chan struct{} // holds one value while there is something to sync
	stop    chan struct{}
	stopped chan struct{} // closed by the goroutine
	failure atomic.Pointer[error]

	mu    sync.Mutex
	asked func() // to be called after the next sync, or nil
}

func newCommitter(f syncFile, every time.Duration) *committer {
	c := &committer{file: f, every: every, dirty: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	go c.run()
	return c
}

func (c *committer) run() {
	defer close(c.stopped)
	pause := time.NewTimer(0)
	<-pause.C
	for {
		select {
		case <-c.dirty:
		case <-c.stop:
			return
		}
		c.mu.Lock()
		done := c.asked
		c.asked = nil
		c.mu.Unlock()
		if err := c.file.Sync(); err != nil {
			c.failure.Store(&err)
			return
		}
		if done != nil {
			done()
		}
		pause.Reset(c.every)
		select {
		case <-pause.C:
		case <-c.stop:
			return
		}
	}
}

// wake says that there is something to sync.
func (c *committer) wake() {
	select {
	case c.dirty <- struct{}{}:
	default: // it knows already
	}
}

// ask makes the committer call done after the next sync. It replaces an earlier done that was not called yet, since the
// later sync covers the earlier bytes.
func (c *committer) ask(done func()) {
	c.mu.Lock()
	c.asked = done
	c.mu.Unlock()
	c.wake()
}

// err returns the error of a sync that failed, or nil.
func (c *committer) err() error {
	if c == nil {
		return nil
	}
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends the goroutine and returns what err does.
func (c *committer) close() error {
	if c == nil {
		return nil
	}
	close(c.stop)
	<-c.stopped
	return c.err()
}

// commit writes the appended records and waits until they are on the disk.
func (w *Writer) commit() error {
	if err := w.Flush(); err != nil {
		return err
	}
	return w.sync()
}

func (w *Writer) sync() error {
	if w.file == nil {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return w.fail(fmt.Errorf("sync: %w", err))
	}
	return nil
}

// committer returns the goroutine that syncs the file.
func (w *Writer) committer(every time.Duration) *committer {
	if w.commits == nil {
		w.commits = newCommitter(w.file, every)
	}
	return w.commits
}

// Commit writes the appended records and calls done when they are as safe as the [Durability] says: at once, or with
// [SyncCommit] from another goroutine, after a sync. done must not wait. Of several calls during one sync, only the
// last done is called. None is called after an error, which the next call returns, nor before the file has the records.
func (w *Writer) Commit(done func()) error {
	if err := w.Flush(); err != nil {
		return err
	}
	if w.file == nil || w.options.Durability != SyncCommit {
		done()
		return nil
	}
	w.committer(0).ask(done)
	return nil
}
