package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A ring is a Log in memory that keeps the latest records of the stream, each
// once, for as many readers as there are: each has a [protocol.Position] of its own. It
// keeps no keyframes, which have no position, and of the header only that it
// was there. Its memory is bounded and never grows.
type ring struct {
	data  []byte
	spans []span // of position p at p % len
	first protocol.Position
	next  protocol.Position
	head  uint64 // where the next record goes, modulo len(data)
}

// A span is where a record's bytes are, counted from the ring's beginning on.
type span struct {
	start uint64
	size  uint32
}

// newRing returns a ring for a number of records and their bytes. It
// raises both to the needs of the largest record.
func newRing(records, sizeBytes int) *ring {
	return &ring{data: make([]byte, max(sizeBytes, 2*protocol.MaxServerMessage)), spans: make([]span, max(records, 16))}
}

// Append takes the next record.
func (r *ring) Append(raw []byte) error {
	switch record.KindOf(raw) {
	case record.KindKeyframe:
		return nil
	case record.KindHeader:
		r.begin(1)
		return nil
	}
	if len(raw) > protocol.MaxServerMessage {
		return fmt.Errorf("lockstep: ring: got a record of %d bytes, want at most %d", len(raw), protocol.MaxServerMessage)
	}
	size := uint64(len(r.data))
	if at := r.head % size; at+uint64(len(raw)) > size {
		r.head += size - at // a record lies in one piece
	}
	for end := r.head + uint64(len(raw)); r.first < r.next; r.first++ {
		if oldest := r.span(r.first); end-oldest.start <= size && r.next-r.first < protocol.Position(len(r.spans)) {
			break
		}
	}
	*r.span(r.next) = span{r.head, uint32(len(raw))}
	copy(r.data[r.head%size:], raw)
	r.head += uint64(len(raw))
	r.next++
	return nil
}

// begin makes p the position of the next record of an empty ring.
func (r *ring) begin(p protocol.Position) { r.first, r.next = p, p }

func (r *ring) span(p protocol.Position) *span { return &r.spans[p%protocol.Position(len(r.spans))] }

// First returns the position of the oldest record that is kept.
func (r *ring) First() protocol.Position { return r.first }

// Next returns the position of the record that is still to come.
func (r *ring) Next() protocol.Position { return r.next }

// Has reports whether a reader can go on at p: the record there is kept, or is
// the next to come.
func (r *ring) Has(p protocol.Position) bool { return r.first <= p && p <= r.next }

// Record returns the record at p, which the ring has. It is valid until the
// next Append.
func (r *ring) Record(p protocol.Position) []byte {
	s := r.span(p)
	at := s.start % uint64(len(r.data))
	return r.data[at : at+uint64(s.size)]
}

// AppendFrom appends the records from p to, but not including, end, as many as
// have room in max bytes. It returns the position after them.
func (r *ring) AppendFrom(dst []byte, p, end protocol.Position, max int) ([]byte, protocol.Position) {
	for end = min(end, r.next); p < end; p++ {
		b := r.Record(p)
		if len(b) > max {
			break
		}
		max -= len(b)
		dst = append(dst, b...)
	}
	return dst, p
}

// Memory returns the bytes that the ring takes.
func (r *ring) Memory() int { return len(r.data) + 16*len(r.spans) }
