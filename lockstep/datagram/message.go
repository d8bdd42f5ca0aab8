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

const (
	// MaxSize is the largest datagram, in bytes. A path of the usual 1,280 bytes or more takes it whole.
	MaxSize = 1200

	// Window is the number of positions from the first that a player lacks up to the end of what datagrams carry. The
	// stream carries what is further ahead.
	Window = 64

	// maxReceipts is the most receipts in one datagram.
	maxReceipts = 32
)

// The kinds of datagrams: the first value.
const (
	kindToPlayer = 1
	kindToHost   = 2
)

// A Head is what both directions begin with: the number of the datagram, and what its sender has of the other direction.
type Head struct {
	Number uint32 // of this direction, from 1 on
	Seen   uint32 // the highest number that has arrived; 0 for none
	Count  uint32 // how many numbers up to there have arrived
}

// ToPlayer is a datagram of a host.
type ToPlayer struct {
	Head
	Receipts []Receipt
	Records  []Record // by rising position, within a Window
}

// A Receipt says that a command was accepted.
type Receipt struct {
	Sequence lockstep.Sequence
	Tick     lockstep.Tick // in which it runs
}

// A Record is one record of the stream, at its position.
type Record struct {
	Position protocol.Position
	Bytes    []byte
}

// ToHost is a datagram of a player.
type ToHost struct {
	Head
	Position protocol.Position // of the first record that the player lacks; 0 while it has no stream
	Above    uint64            // bit i: the record at Position+1+i has arrived
	Tick     lockstep.Tick     // the last one that the player has simulated
	Commands []Command         // by rising sequence
}

// A Command is one command of the player.
type Command struct {
	Sequence lockstep.Sequence
	Kind     lockstep.Kind
	Payload  []byte
}

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
			lockstep.Sequence(r.r.Positive(math.MaxUint32)),
			lockstep.Tick(r.r.Positive(math.MaxUint32)),
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
		before += r.r.Positive(math.MaxUint32 - before)
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
	h.Number = uint32(r.r.Positive(math.MaxUint32))
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

// A Writer encodes datagrams. The zero Writer is ready. It belongs to one goroutine.
type Writer struct {
	w   pack.Writer
	out ToPlayer // that a HostEnd is making
}

// An item of a [ToPlayer] is a record, or a number: 1 to maxRun empty ticks, or maxRun + n positions that are left out.
// A record begins with the header of an array, so the first byte tells them apart.
const (
	maxRun = 127
	maxGap = Window - 1
)

// emptyTick is the record of one tick without commands, which most records are.
var emptyTick = []byte{0x92, byte(record.KindEmpty), 1}

// The bytes that a datagram needs at most, for a sender that fills it up to [MaxSize].
const (
	headSize       = 1 + 3*5 + 3 + 9     // without receipts, records and commands
	receiptSize    = 2 * 5               // of a receipt
	recordOverhead = 2                   // of a record, besides its bytes
	commandSize    = 5 + 3 + 3           // of a command, besides its payload
	toHostSize     = 1 + 3*5 + 9 + 9 + 5 // without commands
)

// ToPlayer appends a datagram, which must be valid.
func (w *Writer) ToPlayer(dst []byte, d *ToPlayer) []byte {
	w.begin(dst, kindToPlayer, &d.Head)
	w.w.Array(2 * len(d.Receipts))
	for _, r := range d.Receipts {
		w.w.Uint(uint64(r.Sequence))
		w.w.Uint(uint64(r.Tick))
	}
	if len(d.Records) == 0 {
		w.w.Uint(0)
		return w.w.Bytes()
	}
	at := d.Records[0].Position
	w.w.Uint(uint64(at))
	run := uint64(0)
	for i := range d.Records {
		r := &d.Records[i]
		empty := bytes.Equal(r.Bytes, emptyTick)
		if run > 0 && (!empty || r.Position > at) {
			w.w.Uint(run)
			run = 0
		}
		if r.Position > at {
			w.w.Uint(maxRun + uint64(r.Position-at))
		}
		if at = r.Position + 1; empty {
			run++
			continue
		}
		dst := w.w.Bytes()
		w.w.Begin(append(dst, r.Bytes...))
	}
	if run > 0 {
		w.w.Uint(run)
	}
	return w.w.Bytes()
}

// ToHost appends a datagram, which must be valid.
func (w *Writer) ToHost(dst []byte, d *ToHost) []byte {
	w.begin(dst, kindToHost, &d.Head)
	w.w.Uint(uint64(d.Position))
	w.w.Uint(d.Above)
	w.w.Uint(uint64(d.Tick))
	before := uint64(0)
	for i := range d.Commands {
		c := &d.Commands[i]
		w.w.Uint(uint64(c.Sequence) - before)
		w.w.Uint(uint64(c.Kind))
		w.w.Binary(c.Payload)
		before = uint64(c.Sequence)
	}
	return w.w.Bytes()
}

func (w *Writer) begin(dst []byte, kind uint64, h *Head) {
	w.w.Begin(dst)
	w.w.Uint(kind)
	w.w.Uint(uint64(h.Number))
	w.w.Uint(uint64(h.Seen))
	w.w.Uint(uint64(h.Count))
}
