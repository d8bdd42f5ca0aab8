package replay

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
)

// A Durability says when what a Writer wrote is made to survive a crash of the
// machine. It concerns only what has a method Sync, as an *os.File does.
type Durability uint8

const (
	// SyncInterval syncs beside the match, every SyncEvery: a crash of the machine
	// loses no more than that, what FlushTicks gathers, and the time of one sync.
	SyncInterval Durability = iota

	// SyncFrame syncs after each tick, before Append returns: nobody is told of a
	// tick that a crash could take back. Each tick takes as long as the disk does.
	SyncFrame

	// SyncNone leaves it to the operating system, and to Close.
	SyncNone
)

// ErrDiskFull is wrapped by the error of a Writer that ran out of room. What was
// written before is whole, up to a torn block at the end.
var ErrDiskFull = errors.New("the disk is full")

// writeError names the reasons that callers may want to tell apart.
func writeError(at int64, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return fmt.Errorf("replay: write at byte %d: %w", at, err)
}

// A file that can be synced.
type syncFile interface{ Sync() error }

// A committer syncs a file in its own goroutine, so that ticks never wait for
// the disk. After a failed sync it never tries again: the operating system may
// have dropped what it could not write, and would report success.
type committer struct {
	file    syncFile
	every   time.Duration
	dirty   chan struct{} // holds one value while there is something to sync
	stop    chan struct{}
	stopped chan struct{} // closed by the goroutine
	failure atomic.Pointer[error]
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
		if err := c.file.Sync(); err != nil {
			c.failure.Store(&err)
			return
		}
		pause.Reset(c.every)
		select {
		case <-pause.C:
		case <-c.stop:
			return
		}
	}
}

// wake tells that something was written.
func (c *committer) wake() {
	select {
	case c.dirty <- struct{}{}:
	default: // it was told already
	}
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
