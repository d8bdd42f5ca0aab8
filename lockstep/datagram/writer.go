package datagram

import (
	"bytes"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
	HeadSize    = 1 + 3*5 + 3 + 9     // without receipts, records and commands
	ReceiptSize = 2 * 5               // of a receipt
	RecordSize  = 2                   // of a record, besides its bytes
	CommandSize = 5 + 3 + 3           // of a command, besides its payload
	ToHostSize  = 1 + 3*5 + 9 + 9 + 5 // without commands
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
