package replay

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxBatch is how many bytes of records make the Writer write a batch, whatever the tick.
const maxBatch = 64 << 10

// maxPacked is how many bytes of records, besides states, the Writer compresses. More become a batch: they would be in memory several times.
const maxPacked = 2 * maxGathered

// WriterOptions set when and how a Writer writes.
type WriterOptions struct {
	// FlushTicks is the number of ticks in a batch, which a crash of the process can lose. 0 means a second's ticks.
	FlushTicks uint32

	// Durability says when the Writer syncs, so that the file survives a crash of the machine.
	Durability Durability

	// SyncEvery is the time between two syncs of SyncInterval; 0 means a second.
	SyncEvery time.Duration

	// SegmentTicks makes sealed files: instead of batches the Writer writes compressed segments of at least that many
	// ticks, and at the end an index. Segments begin with keyframes unless these are too far apart. Nothing is flushed
	// in between, so this is for matches that are over; see [SealFile].
	SegmentTicks uint32

	// Level says how well to compress segments.
	Level Level

	// Rules are written behind the end of the match; nil for none. See [Attach].
	Rules *Rules
}

// A Writer writes the log of a match as a replay file. Its first error stays: later calls return it. It belongs to one goroutine.
type Writer struct {
	w       io.Writer
	options WriterOptions
	block   []byte   // header space, records, check
	empty   emptyRun // ticks without a record so far
	ticks   uint32   // since the last flush
	chain   uint64   // check of the block before
	size    int64
	tick    lockstep.Tick // of the last frame
	first   lockstep.Tick // of the last frame before block
	began   bool          // the first keyframe came
	body    []byte        // of a segment
	marks   []mark        // of a sealed file
	ended   bool
	file    syncFile   // w, if it has Sync, or nil
	commits *committer // syncs it, from the first write on
	behind  *behind    // w, after WriteBehind, or nil
	before  int64      // bytes in the file then

	keyframes int   // that were appended
	states    int   // bytes of the states in block
	spent     int64 // bytes of records in segments, except states
	err       error
}

const headerSpace = 1 + maxLengthSize

// NewWriter returns a Writer to w. Its first record is the header.
func NewWriter(w io.Writer, o WriterOptions) *Writer {
	file, _ := w.(syncFile)
	o.SyncEvery = cmp.Or(o.SyncEvery, time.Second)
	return &Writer{w: w, file: file, options: o, block: make([]byte, headerSpace, maxBatch)}
}

// Append takes one record, and keeps it in memory until the batch has enough bytes or ticks; see [Writer.Flush]. It allocates nothing. It
// waits for the disk to write a batch, unless a goroutine does; see [Writer.WriteBehind].
func (w *Writer) Append(raw []byte) error {
	if err := w.check(); err != nil {
		return err
	}
	if err := w.append(raw); err != nil {
		return err
	}
	if w.options.Durability == SyncFrame && w.file != nil {
		if kind := record.KindOf(raw); kind.Advances() || kind == record.KindEnd {
			if err := w.Flush(); err != nil {
				return err
			}
			return w.sync()
		}
	}
	return nil
}

// check returns the Writer's error, or that of a concurrent write or sync.
func (w *Writer) check() error {
	if err := w.behind.failure(); w.err == nil && err != nil {
		return w.fail(err)
	}
	if w.err == nil && w.commits.err() != nil {
		return w.fail(fmt.Errorf("sync: %w", w.commits.err()))
	}
	return w.err
}

func (w *Writer) append(raw []byte) error {
	if len(raw) > maxRecord {
		_, state, _ := keyframe(raw)
		if size := len(raw) - state; size > maxRecord {
			return w.fail(fmt.Errorf("%w: a record of %d bytes, want at most %d", ErrLimit, size, maxRecord))
		}
	}
	switch kind := record.KindOf(raw); kind {
	case record.KindHeader:
		if err := w.begin(raw); err != nil {
			return err
		}
	case record.KindKeyframe:
		if w.keyframes == maxKeyframes {
			return nil // a reader needs only the first
		}
		w.keyframes++
		t, state, ok := keyframe(raw)
		if !ok {
			return w.fail(fmt.Errorf("%w: keyframe", record.ErrMalformed))
		}
		if err := w.keyframe(t); err != nil {
			return err
		}
		w.states += state
	case record.KindEmpty:
		n, ok := w.empty.add(raw)
		if !ok {
			w.block = w.empty.append(w.block)
			w.empty.add(raw)
		}
		w.ticks += n
		w.tick += lockstep.Tick(n)
		return w.flushIfDue()
	case record.KindFrame:
		w.ticks++
		w.tick++
	case record.KindEnd:
		w.ended = true
	}
	w.block = append(w.empty.append(w.block), raw...)
	return w.flushIfDue()
}

func (w *Writer) begin(raw []byte) error {
	var d record.Decoder
	r, _, err := d.Decode(raw)
	if err != nil {
		return w.fail(err)
	}
	if w.options.FlushTicks == 0 {
		w.options.FlushTicks = uint32(max(1, r.Header.Settings.TicksIn(1_000_000)))
	}
	prefix := appendPrefix(nil, r.Header.Match)
	w.chain = xxhash.Sum64(prefix)
	return w.write(prefix)
}

// keyframe notes the place of a keyframe, and begins a segment with it if one is due, so that a reader can begin there.
func (w *Writer) keyframe(t lockstep.Tick) error {
	if !w.began {
		w.began, w.tick, w.first = true, t, t
	} else if w.options.SegmentTicks == 0 || t != w.tick || t == w.marks[len(w.marks)-1].tick {
		return nil // no index, or not a place to begin at
	} else if w.ticks >= w.options.SegmentTicks {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.block = w.empty.append(w.block)
	w.marks = append(w.marks, mark{t, w.size, len(w.block) - headerSpace})
	return nil
}

func (w *Writer) flushIfDue() error {
	if sealed := w.options.SegmentTicks > 0; sealed && len(w.block) >= maxGathered || !sealed && (w.ticks >= w.options.FlushTicks || len(w.block) >= maxBatch) {
		return w.Flush()
	}
	return nil
}

// Flush writes the appended records as a batch, or as a segment. It returns when the operating system has them: they
// survive a crash of the process, but not of the machine. After [Writer.WriteBehind] the operating system gets them soon.
func (w *Writer) Flush() error {
	if err := w.check(); err != nil {
		return err
	}
	w.block = w.empty.append(w.block)
	records := w.block[headerSpace:]
	if len(records) == 0 {
		return nil
	}
	first := w.first
	size := len(records) - w.states
	spent := w.spent + int64(size)
	w.ticks, w.first, w.states = 0, w.tick, 0
	defer func() { w.block = w.block[:headerSpace] }()
	if w.options.SegmentTicks > 0 && size <= maxPacked && spent <= affordable(w.size) {
		if body := sealBody(w.body[:0], records, first, uint32(w.tick-first), w.options.Level); body != nil {
			w.body = body
			w.spent = spent
			return w.writeBlock(blockSegment, body)
		}
	}
	var b [headerSpace]byte
	header := appendBlockHeader(b[:0], blockBatch, len(records))
	from := headerSpace - len(header)
	copy(w.block[from:], header)
	w.chain = checkBlock(w.chain, w.block[from:])
	w.block = binary.LittleEndian.AppendUint64(w.block, w.chain)
	return w.write(w.block[from:])
}

// Pending reports whether records are only in the memory of the Writer, until the next [Writer.Flush].
func (w *Writer) Pending() bool { return len(w.block) > headerSpace || w.empty.ticks > 0 }

// writeBlock writes a block with a body, after the records that were flushed: call Flush first.
func (w *Writer) writeBlock(kind byte, body []byte) error {
	block := append(appendBlockHeader(nil, kind, len(body)), body...)
	w.chain = checkBlock(w.chain, block)
	return w.write(binary.LittleEndian.AppendUint64(block, w.chain))
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.fail(err)
	}
	if w.file != nil && w.options.Durability == SyncInterval && w.options.SegmentTicks == 0 {
		w.committer(w.options.SyncEvery).wake()
	}
	return nil
}

// Err returns the Writer's error, that of a concurrent write or sync, or nil.
func (w *Writer) Err() error { return w.check() }

func (w *Writer) fail(err error) error {
	w.err = writeError(w.size, err)
	return w.err
}

// Size returns how many bytes were written, or given to the goroutine that writes.
func (w *Writer) Size() int64 { return w.size }

var errClosed = errors.New("replay: the writer is closed")

// Close must be called even after an error. It writes the remaining records, and syncs the destination if it has a method Sync, but does
// not close it. If the match has not ended, the file has no end record, and readers say so.
func (w *Writer) Close() error {
	if errors.Is(w.err, errClosed) {
		return w.err
	}
	err := w.finish()
	if berr := w.behind.close(); err == nil && berr != nil {
		err = w.fail(berr)
	}
	if cerr := w.commits.close(); err == nil && cerr != nil {
		err = w.fail(fmt.Errorf("sync: %w", cerr))
	}
	w.commits = nil
	if err == nil {
		err = w.sync()
	}
	if err != nil {
		return err
	}
	w.err = errClosed
	return nil
}

func (w *Writer) finish() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if w.options.Rules != nil && w.ended {
		if err := w.writeBlock(blockRules, w.options.Rules.append(nil)); err != nil {
			return err
		}
	}
	if w.options.SegmentTicks > 0 && w.ended {
		return w.writeBlock(blockIndex, appendIndex(nil, w.marks, w.size))
	}
	return nil
}

// An emptyRun joins records of empty ticks. Runs that follow each other in a log mean the same as one run of their sum.
type emptyRun struct {
	ticks uint32
	r     pack.Reader
	w     pack.Writer
}

// add joins a well-formed [record.KindEmpty] to the run, and returns its ticks; false if the run would become too long for a record.
func (e *emptyRun) add(raw []byte) (n uint32, ok bool) {
	e.r.Reset(raw[2:])
	n = uint32(e.r.Uint(record.MaxEmptyRun))
	if e.ticks+n > record.MaxEmptyRun {
		return n, false
	}
	e.ticks += n
	return n, true
}

func (e *emptyRun) append(dst []byte) []byte {
	if e.ticks == 0 {
		return dst
	}
	e.w.Begin(dst)
	e.w.Array(2)
	e.w.Uint(uint64(record.KindEmpty))
	e.w.Uint(uint64(e.ticks))
	e.ticks = 0
	return e.w.Bytes()
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

func (w *Writer) committer(every time.Duration) *committer {
	if w.commits == nil {
		w.commits = &committer{file: w.file, every: every, dirty: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
		go w.commits.run()
	}
	return w.commits
}

// Commit writes the appended records and calls done when they are as safe as the [Durability] says: at once, or with [SyncCommit] from
// another goroutine, after a sync. done must not wait. A later call replaces a done that waits. None is called after an error.
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

// WriteBehind makes a goroutine write from now on, so that only [Writer.Close] waits for the disk; see [Writer.Backlog]. Flushed
// records stay in memory until they are written: call [Writer.Await] before somebody reads them in the file. A full disk is no error:
// the goroutine goes on when there is room. A later call returns the error of a write. Not for [SyncFrame], whose Append waits.
func (w *Writer) WriteBehind() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.commits.close(); err != nil {
		return w.fail(fmt.Errorf("sync: %w", err))
	}
	w.commits = nil
	w.behind = &behind{file: w.w, closing: make(chan struct{}), stopped: make(chan struct{})}
	w.behind.changed.L = &w.behind.mu
	go w.behind.run()
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

// Backlog returns what was flushed and not yet written; nothing without [Writer.WriteBehind]. It is safe for concurrent use.
func (w *Writer) Backlog() Backlog {
	b := w.behind
	if b == nil {
		return Backlog{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.given - b.written
	return Backlog{Bytes: waiting, Since: b.oldest(), Full: b.full, Crowded: waiting > b.crowd()}
}

// Await waits until the file has size bytes, a former [Writer.Size], or until ctx ends. It is safe for concurrent use.
func (w *Writer) Await(ctx context.Context, size int64) error {
	return w.behind.await(ctx, size-w.before)
}
