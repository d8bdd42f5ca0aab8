package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// maxWaiting is how many bytes may wait for the disk, besides the largest write, until [Backlog.Crowded]. Twice as
	// many are an error.
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

func newBehind(file io.Writer) *behind {
	b := &behind{file: file, closing: make(chan struct{}), stopped: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
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

// crowd is the number of waiting bytes beyond which it is crowded. The mutex is held.
func (b *behind) crowd() int64 { return maxWaiting + int64(b.largest) }

// oldest returns since when the oldest bytes wait, or zero. The mutex is held.
func (b *behind) oldest() time.Time {
	if !b.since.IsZero() || len(b.queue) == 0 {
		return b.since
	}
	return b.came
}

// run writes until close, or an error.
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

// pause waits until another attempt to write to a full disk is due.
func (b *behind) pause() {
	again := time.NewTimer(retryRoom)
	defer again.Stop()
	select {
	case <-again.C:
	case <-b.closing:
	}
}

// await waits until the file has size bytes of those that it was given.
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

// failure returns the error of a write, or nil.
func (b *behind) failure() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *behind) backlog() Backlog {
	if b == nil {
		return Backlog{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.given - b.written
	return Backlog{Bytes: waiting, Since: b.oldest(), Full: b.full, Crowded: waiting > b.crowd()}
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

// WriteBehind makes a goroutine write from now on, so that no method but [Writer.Close] waits for the disk, however long
// it does not answer; see [Writer.Backlog]. Flushed records are in memory until then: call [Writer.Await] before somebody
// reads them in the file. A full disk is no error any more: the goroutine writes on when there is room. An error of a write
// is returned by a later call. Not for [SyncFrame], whose Append waits.
func (w *Writer) WriteBehind() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.commits.close(); err != nil {
		return w.fail(fmt.Errorf("sync: %w", err))
	}
	w.commits = nil
	w.behind = newBehind(w.w)
	w.before = w.size
	w.w = w.behind
	if w.file != nil {
		w.file = w.behind
		if w.options.Durability == SyncInterval {
			w.committer(w.options.SyncEvery).wake() // what was written so far
		}
	}
	return nil
}

// Backlog returns what was flushed and the file has not taken yet: nothing without [Writer.WriteBehind]. It may be called
// from any goroutine.
func (w *Writer) Backlog() Backlog { return w.behind.backlog() }

// Await waits until the file has size bytes, a former [Writer.Size], or until ctx ends. It may be called from any goroutine.
func (w *Writer) Await(ctx context.Context, size int64) error {
	return w.behind.await(ctx, size-w.before)
}
