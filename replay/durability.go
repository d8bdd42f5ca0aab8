package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Durability says when a Writer syncs a destination that has a method Sync, so that the file survives a crash of the machine.
type Durability uint8

const (
	// SyncInterval syncs every SyncEvery, concurrently. A crash of the machine loses that time, the ticks of FlushTicks, and the time of a sync.
	SyncInterval Durability = iota

	// SyncFrame syncs after each tick, before Append returns, so nobody sees a tick that a crash could take back. Checksums, notes and
	// events are synced with the next tick: they can be computed again, or no state depends on them.
	SyncFrame

	// SyncNone leaves it to the operating system, and to Close.
	SyncNone

	// SyncCommit syncs concurrently when [Writer.Commit] asks for it. A caller that shows ticks after their commit is as safe as with SyncFrame.
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

// writeError names the reasons that callers distinguish. It omits the path: players see the error, and must not learn a server's folders.
func writeError(at int64, err error) error {
	if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
		err = fmt.Errorf("%s: %w", inPath.Op, inPath.Err)
	}
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return fmt.Errorf("replay: write at byte %d: %w", at, err)
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

type syncFile interface{ Sync() error }

// A committer syncs a file in its own goroutine. It never repeats a failed sync: the system may have dropped data, and report success.
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

func (c *committer) wake() {
	select {
	case c.dirty <- struct{}{}:
	default: // it knows already
	}
}

// ask makes the committer call done after the next sync, in place of an earlier done that waits: the later sync covers the earlier bytes.
func (c *committer) ask(done func()) {
	c.mu.Lock()
	c.asked = done
	c.mu.Unlock()
	c.wake()
}

func (c *committer) err() error {
	if c == nil {
		return nil
	}
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *committer) close() error {
	if c == nil {
		return nil
	}
	close(c.stop)
	<-c.stopped
	return c.err()
}

const (
	// maxWaiting is how many bytes may wait for the disk until [Backlog.Crowded], besides the largest write; twice as many are an error.
	maxWaiting = 1 << 20

	// maxSpare is the largest buffer of waiting bytes that is used again.
	maxSpare = 4 * maxBatch

	// retryRoom is the interval of attempts to write to a full disk.
	retryRoom = time.Second
)

// A Backlog says what a file has not taken yet.
type Backlog struct {
	Bytes   int64
	Since   time.Time // when the oldest of these bytes were flushed; zero without any
	Full    bool      // the disk is full; the file may end with a torn block
	Crowded bool      // there are so many that callers should append as little as possible
}

// A behind writes to a file in its own goroutine. Its methods are those of a nil *behind, too, which has nothing to do.
type behind struct {
	file    io.Writer
	closing chan struct{} // closed when there will be no more bytes
	stopped chan struct{} // closed by the goroutine

	mu      sync.Mutex
	changed sync.Cond
	queue   []byte    // that no write has been given yet
	came    time.Time // when its first byte did
	since   time.Time // the same of the bytes that are being written; zero without any
	largest int       // write so far
	given   int64
	written int64
	full    bool
	last    bool // closing is closed
	err     error
}

// Write takes bytes, and never waits for the disk. It returns the error of an earlier write.
func (b *behind) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	b.largest = max(b.largest, len(p))
	if most := 2 * b.crowd(); b.given-b.written+int64(len(p)) > most {
		b.err = syscall.ENOSPC
		if !b.full {
			b.err = fmt.Errorf("the disk has not answered for %v: got %d bytes that wait, want at most %d", time.Since(b.oldest()).Round(time.Second), b.given-b.written+int64(len(p)), most)
		}
		b.changed.Broadcast()
		return 0, b.err
	}
	if len(b.queue) == 0 {
		b.came = time.Now()
	}
	b.queue = append(b.queue, p...)
	b.given += int64(len(p))
	b.changed.Broadcast()
	return len(p), nil
}

func (b *behind) crowd() int64 { return maxWaiting + int64(b.largest) }

// oldest returns since when the oldest bytes wait, or zero. The mutex is held.
func (b *behind) oldest() time.Time {
	if !b.since.IsZero() || len(b.queue) == 0 {
		return b.since
	}
	return b.came
}

func (b *behind) run() {
	defer close(b.stopped)
	var spare []byte
	for {
		batch, ok := b.take(spare)
		if !ok {
			return
		}
		for rest := batch; len(rest) > 0; {
			b.mu.Lock()
			last := b.last
			b.mu.Unlock()
			n, err := b.file.Write(rest)
			rest = rest[n:]
			if err == nil && len(rest) > 0 {
				err = io.ErrShortWrite
			}
			switch full := isFull(err) && !last; {
			case !b.wrote(n, len(rest), full, err):
				return
			case full:
				b.pause()
			}
		}
		if spare = batch[:0]; cap(batch) > maxSpare {
			spare = nil
		}
	}
}

// take waits for bytes, and leaves an empty queue. It reports false if none will come.
func (b *behind) take(spare []byte) (batch []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 && !b.last && b.err == nil {
		b.changed.Wait()
	}
	if len(b.queue) == 0 || b.err != nil {
		return nil, false
	}
	batch, b.queue, b.since = b.queue, spare, b.came
	return batch, true
}

// wrote notes the outcome of a write. It reports false if nothing more is to be written.
func (b *behind) wrote(n, rest int, full bool, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written += int64(n)
	b.full = full
	if rest == 0 {
		b.since = time.Time{}
	}
	if !full {
		b.err = cmp.Or(b.err, err)
	}
	b.changed.Broadcast()
	return b.err == nil
}

func (b *behind) pause() {
	again := time.NewTimer(retryRoom)
	defer again.Stop()
	select {
	case <-again.C:
	case <-b.closing:
	}
}

func (b *behind) await(ctx context.Context, size int64) error {
	if b == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.written < size && b.err == nil && ctx.Err() == nil {
		b.changed.Wait()
	}
	if b.written >= size {
		return nil
	}
	return cmp.Or(b.err, ctx.Err())
}

// Sync waits until the file has all bytes so far, and syncs it.
func (b *behind) Sync() error {
	b.mu.Lock()
	given := b.given
	b.mu.Unlock()
	if err := b.await(context.Background(), given); err != nil {
		return err
	}
	if f, ok := b.file.(syncFile); ok {
		return f.Sync()
	}
	return nil
}

func (b *behind) failure() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// close waits until all bytes are written, and ends the goroutine. A disk that is full now is an error.
func (b *behind) close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	b.last = true
	b.changed.Broadcast()
	b.mu.Unlock()
	close(b.closing)
	<-b.stopped
	return b.failure()
}
