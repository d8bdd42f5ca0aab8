package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A ring is a Log in memory that keeps the latest records of the stream once for all readers. Each reader has its own
// [protocol.Position]. The ring keeps no keyframes, which have no position, and not the bytes of the header. Its memory
// is bounded and never grows.
type ring struct {
	data    []byte
	extents []extent // of position p at p % len
	first   protocol.Position
	next    protocol.Position
	head    uint64 // where the next record goes, modulo len(data)
}

// An extent is the place of a record's bytes. start counts bytes from the beginning of the ring's use.
type extent struct {
	start uint64
	size  uint32
}

// newRing returns a ring for a number of records and bytes. It raises both to the minimum that the largest record
// needs.
func newRing(records, sizeBytes int) *ring {
	return &ring{data: make([]byte, max(sizeBytes, 2*protocol.MaxServerMessage)), extents: make([]extent, max(records, 16))}
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
		r.head += size - at // a record is contiguous
	}
	for end := r.head + uint64(len(raw)); r.first < r.next; r.first++ {
		if oldest := r.extent(r.first); end-oldest.start <= size && r.next-r.first < protocol.Position(len(r.extents)) {
			break
		}
	}
	*r.extent(r.next) = extent{r.head, uint32(len(raw))}
	copy(r.data[r.head%size:], raw)
	r.head += uint64(len(raw))
	r.next++
	return nil
}

// begin makes p the position of the next record of an empty ring.
func (r *ring) begin(p protocol.Position) { r.first, r.next = p, p }

func (r *ring) extent(p protocol.Position) *extent {
	return &r.extents[p%protocol.Position(len(r.extents))]
}

// First returns the position of the oldest record that is kept.
func (r *ring) First() protocol.Position { return r.first }

// Next returns the position of the next record.
func (r *ring) Next() protocol.Position { return r.next }

// Has reports whether a reader can continue at p: the record there is kept, or p is the next position.
func (r *ring) Has(p protocol.Position) bool { return r.first <= p && p <= r.next }

// Record returns the record at p, which must be kept. It is valid until the next Append.
func (r *ring) Record(p protocol.Position) []byte {
	s := r.extent(p)
	at := s.start % uint64(len(r.data))
	return r.data[at : at+uint64(s.size)]
}

// AppendFrom appends the records from p up to, but not including, end, as many as fit in max bytes. It returns the
// position after them.
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

// Memory returns the memory of the ring, in bytes.
func (r *ring) Memory() int { return len(r.data) + 16*len(r.extents) }
