package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

// maxBatch is how many bytes of records are gathered before they are written,
// whatever the tick.
const maxBatch = 64 << 10

// WriterOptions say when a Writer writes.
type WriterOptions struct {
	// FlushTicks is after how many ticks a batch is written: what a crash of the
	// process can lose. 0 means as many as a second has, 1 each tick by itself.
	FlushTicks uint32
}

// A Writer writes the log of a match as a replay file. It is a [lockstep.Log].
// Its first error stays: every later call returns it. It belongs to one
// goroutine.
type Writer struct {
	w       io.Writer
	options WriterOptions
	block   []byte            // header space, records, check
	empty   lockstep.EmptyRun // ticks that have no record yet
	ticks   uint32            // since the last flush
	chain   uint64            // check of the block before
	size    int64
	err     error
}

// headerSpace is what a Writer keeps free before a batch's records.
const headerSpace = 1 + maxLengthSize

// NewWriter returns a Writer that writes to w, from the header record on.
func NewWriter(w io.Writer, o WriterOptions) *Writer {
	return &Writer{w: w, options: o, block: make([]byte, headerSpace, maxBatch)}
}

// Append takes one record. It is kept in memory until the batch is full or its
// ticks are; see [Writer.Flush].
func (w *Writer) Append(record []byte) error {
	if w.err != nil {
		return w.err
	}
	switch kind := lockstep.KindOf(record); kind {
	case lockstep.RecordHeader:
		if err := w.begin(record); err != nil {
			return err
		}
	case lockstep.RecordEmpty:
		n, ok := w.empty.Add(record)
		if !ok {
			w.block = w.empty.Append(w.block)
			w.empty.Add(record)
		}
		w.ticks += n
		return w.flushIfDue()
	case lockstep.RecordFrame:
		w.ticks++
	}
	w.block = append(w.empty.Append(w.block), record...)
	return w.flushIfDue()
}

// begin writes the prefix.
func (w *Writer) begin(record []byte) error {
	var d lockstep.Decoder
	r, _, err := d.Decode(record)
	if err != nil {
		return w.fail(err)
	}
	if w.options.FlushTicks == 0 {
		w.options.FlushTicks = uint32(r.Header.Settings.TickRate)
	}
	prefix := appendPrefix(nil, r.Header.Match)
	w.chain = xxhash.Sum64(prefix)
	return w.write(prefix)
}

func (w *Writer) flushIfDue() error {
	if w.ticks >= w.options.FlushTicks || len(w.block) >= maxBatch {
		return w.Flush()
	}
	return nil
}

// Flush writes what was appended as a batch. It returns when the operating
// system has it, which survives a crash of the process, though not of the
// machine.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	w.block = w.empty.Append(w.block)
	w.ticks = 0
	body := len(w.block) - headerSpace
	if body == 0 {
		return nil
	}
	var b [headerSpace]byte
	header := appendBlockHeader(b[:0], blockBatch, body)
	from := headerSpace - len(header)
	copy(w.block[from:], header)
	w.chain = checkBlock(w.chain, w.block[from:])
	w.block = binary.LittleEndian.AppendUint64(w.block, w.chain)
	err := w.write(w.block[from:])
	w.block = w.block[:headerSpace]
	return err
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
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("replay: write at byte %d: %w", w.size, err)
	return w.err
}

// Size returns how many bytes were written.
func (w *Writer) Size() int64 { return w.size }

// errClosed is what a closed Writer answers.
var errClosed = errors.New("replay: the writer is closed")

// Close writes what is left, and makes sure that it is on the disk if the
// writer that w was made for has a method Sync. It does not close that writer.
// If the match goes on, the file has no end record, and says so when it is
// read.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if s, ok := w.w.(interface{ Sync() error }); ok {
		if err := s.Sync(); err != nil {
			return w.fail(err)
		}
	}
	w.err = errClosed
	return nil
}
