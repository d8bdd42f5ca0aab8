package datagram

import (
	"bytes"
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Reader decodes datagrams. The zero Reader is ready. It belongs to one goroutine. It takes only what a [Writer] writes;
// the contents of records are for a [record.Decoder]. Errors wrap [record.ErrMalformed] or are [io.ErrUnexpectedEOF].
type Reader struct{ r pack.Reader }

// ToPlayer decodes a datagram of a host into d, whose memory is used again. The records share memory with b.
func (r *Reader) ToPlayer(d *ToPlayer, b []byte) error {
	d.Receipts, d.Records = d.Receipts[:0], d.Records[:0]
	if err := r.begin(&d.Head, kindToPlayer, b); err != nil {
		return err
	}
	n := r.r.Array(0, 2*maxReceipts)
	if n%2 != 0 {
		r.r.Fail("got %d values about receipts, want pairs", n)
	}
	for range n / 2 {
		d.Receipts = append(d.Receipts, Receipt{
			lockstep.Sequence(r.positive(math.MaxUint32)),
			lockstep.Tick(r.positive(math.MaxUint32)),
		})
	}
	first := protocol.Position(r.r.Uint(math.MaxInt64))
	r.items(d, first, b[r.r.Offset():])
	if (first == 0) != (len(d.Records) == 0) {
		r.r.Fail("got position %d with %d records", first, len(d.Records))
	}
	return r.end()
}

// items reads the items, which go to the end of the datagram.
func (r *Reader) items(d *ToPlayer, first protocol.Position, b []byte) {
	at, before := first, gap // no gap stands at the beginning
	for len(b) > 0 && r.r.Err() == nil {
		n, size, kind := number(b)
		switch {
		case kind == noItem:
			if size = recordSize(b); size == 0 || bytes.Equal(b[:size], emptyTick) {
				r.r.Fail("%d bytes before the end: no item", len(b))
				return
			}
			d.Records = append(d.Records, Record{at, b[:size:size]})
			at++
		case kind == before:
			r.r.Fail("%d bytes before the end: an item that belongs to the one before", len(b))
			return
		case kind == gap:
			at += protocol.Position(n)
		default:
			for range min(n, Window) {
				d.Records = append(d.Records, Record{at, emptyTick})
				at++
			}
		}
		if at-first > Window || n > Window {
			r.r.Fail("records beyond the window of %d positions", Window)
		}
		b, before = b[size:], kind
	}
	if before == gap && first > 0 {
		r.r.Fail("no record, or a gap at the end")
	}
}

// The kinds of items that are numbers.
const (
	noItem = iota // a record
	run           // of empty ticks
	gap           // positions that are left out
)

// number returns the number that b begins with, and its size in bytes; or noItem.
func number(b []byte) (n, size, kind int) {
	switch {
	case b[0] > 0 && b[0] <= maxRun:
		return int(b[0]), 1, run
	case b[0] == 0xcc && len(b) > 1 && b[1] > maxRun:
		return int(b[1]) - maxRun, 2, gap
	}
	return 0, 0, noItem
}

// recordSize returns the size of the record that b begins with, or 0 if it has none. A record of the stream is an array of
// numbers, strings and byte strings; a [record.Decoder] looks closer.
func recordSize(b []byte) int {
	size, _ := pack.Size(b)
	var r pack.Reader
	r.Reset(b[:size])
	if n := r.Array(1, MaxSize); n == 0 {
		return 0
	}
	for at := r.Offset(); at < size; {
		switch c := b[at]; {
		case c < 0x80, c >= 0xa0 && c < 0xc0, c >= 0xc4 && c <= 0xc6, c >= 0xcc && c <= 0xcf, c >= 0xd9 && c <= 0xdb:
		default:
			return 0
		}
		n, _ := pack.Size(b[at:])
		at += n
	}
	return size
}

// ToHost decodes a datagram of a player into d, whose memory is used again. The payloads share memory with b.
func (r *Reader) ToHost(d *ToHost, b []byte) error {
	d.Commands = d.Commands[:0]
	if err := r.begin(&d.Head, kindToHost, b); err != nil {
		return err
	}
	d.Position = protocol.Position(r.r.Uint(math.MaxInt64))
	d.Above = r.r.Uint(1<<(Window-1) - 1)
	d.Tick = lockstep.Tick(r.r.Uint(math.MaxUint32))
	if d.Position == 0 && (d.Above != 0 || d.Tick != 0) {
		r.r.Fail("records or a tick without a stream")
	}
	for before := uint64(0); r.r.Err() == nil && r.r.Left() > 0; {
		before += r.positive(math.MaxUint32 - before)
		d.Commands = append(d.Commands, Command{
			Sequence: lockstep.Sequence(before),
			Kind:     lockstep.Kind(r.r.Uint(math.MaxUint16)),
			Payload:  r.r.Binary(MaxSize),
		})
	}
	return r.end()
}

func (r *Reader) begin(h *Head, kind uint64, b []byte) error {
	r.r.Reset(b)
	if len(b) > MaxSize {
		r.r.Fail("got %d bytes, want at most %d", len(b), MaxSize)
		return r.end()
	}
	if got := r.r.Uint(math.MaxUint8); got != kind {
		r.r.Fail("got kind %d, want %d", got, kind)
	}
	h.Number = uint32(r.positive(math.MaxUint32))
	h.Seen = uint32(r.r.Uint(math.MaxUint32))
	h.Count = uint32(r.r.Uint(uint64(h.Seen)))
	if h.Count == 0 && h.Seen > 0 {
		r.r.Fail("number %d without a count", h.Seen)
	}
	if r.r.Err() != nil {
		return r.end()
	}
	return nil
}

func (r *Reader) end() error {
	if err := r.r.Err(); err != nil {
		return fmt.Errorf("lockstep: datagram: %w", record.AsMalformed(err))
	}
	return nil
}

// positive reads a number from 1 to max.
func (r *Reader) positive(max uint64) uint64 {
	n := r.r.Uint(max)
	if n == 0 {
		r.r.Fail("got 0, want 1 to %d", max)
	}
	return n
}
