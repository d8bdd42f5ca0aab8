// Package ring keeps the latest records of a match's stream in memory, once for all readers.
//
//samestep:deterministic
package ring

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Ring is a [record.Log] in memory that keeps the latest records of the stream once for all readers. Each reader has its own
// [protocol.Position]. The ring keeps no keyframes, which have no position, and not the bytes of the header. Its memory
// is bounded. It begins small and doubles when the records to keep need more, so a quiet match never pays for the bound.
type Ring struct {
	data    []byte
	extents []extent // of position p at p % len
	first   protocol.Position
	next    protocol.Position
	head    uint64 // where the next record goes, modulo len(data)

	maxBytes, maxRecords int // the bounds of data and extents
}

// The sizes of a ring's first memory.
const (
	firstRingBytes   = 16 << 10
	firstRingRecords = 256
)

// An extent is the place of a record's bytes. start counts bytes from the beginning of the ring's use.
type extent struct {
	start uint64
	size  uint32
}

// New returns a ring for at most a number of records and bytes. It raises both to the minimum that the largest record needs.
func New(records, sizeBytes int) *Ring {
	r := &Ring{maxBytes: max(sizeBytes, 2*protocol.MaxServerMessage), maxRecords: max(records, 16)}
	r.data = make([]byte, min(r.maxBytes, firstRingBytes))
	r.extents = make([]extent, min(r.maxRecords, firstRingRecords))
	return r
}

// Append takes the next record.
func (r *Ring) Append(raw []byte) error {
	switch record.KindOf(raw) {
	case record.KindKeyframe, record.KindPanic:
		return nil
	case record.KindHeader:
		r.Begin(1)
		return nil
	}
	if len(raw) > protocol.MaxServerMessage {
		return fmt.Errorf("lockstep: ring: got a record of %d bytes, want at most %d", len(raw), protocol.MaxServerMessage)
	}
	r.makeRoom(uint64(len(raw)))
	*r.extent(r.next) = extent{r.head, uint32(len(raw))}
	copy(r.data[r.head%uint64(len(r.data)):], raw)
	r.head += uint64(len(raw))
	r.next++
	return nil
}

// makeRoom moves head to where a record of n bytes fits. The ring grows first, and drops its oldest records at its bounds.
func (r *Ring) makeRoom(n uint64) {
	if r.next-r.first == protocol.Position(len(r.extents)) {
		if len(r.extents) < r.maxRecords {
			r.growExtents()
		} else {
			r.first++
		}
	}
	for {
		size, start := uint64(len(r.data)), r.head
		if at := start % size; at+n > size {
			start += size - at // a record is contiguous
		}
		oldest := start
		if r.first < r.next {
			oldest = r.extent(r.first).start
		}
		switch {
		case start+n-oldest <= size:
			r.head = start
			return
		case len(r.data) < r.maxBytes:
			r.growData()
		default:
			r.first++ // an empty ring of maxBytes has room for every record, so a record is there
		}
	}
}

// growExtents doubles the number of records that fit, up to maxRecords.
func (r *Ring) growExtents() {
	old := r.extents
	r.extents = make([]extent, min(2*len(old), r.maxRecords))
	for p := r.first; p < r.next; p++ {
		*r.extent(p) = old[p%protocol.Position(len(old))]
	}
}

// growData doubles the bytes, up to maxBytes, and moves the records to their beginning.
func (r *Ring) growData() {
	data := make([]byte, min(2*len(r.data), r.maxBytes))
	head := 0
	for p := r.first; p < r.next; p++ {
		n := copy(data[head:], r.Record(p))
		r.extent(p).start = uint64(head)
		head += n
	}
	r.data, r.head = data, uint64(head)
}

// Begin empties the ring, and makes p the position of the next record.
func (r *Ring) Begin(p protocol.Position) { r.first, r.next = p, p }

func (r *Ring) extent(p protocol.Position) *extent {
	return &r.extents[p%protocol.Position(len(r.extents))]
}

// Truncate drops the records from p on, which is kept or the next position.
func (r *Ring) Truncate(p protocol.Position) {
	if p < r.next {
		r.head, r.next = r.extent(p).start, p
	}
}

// Skip puts empty records in the place of those before p that the reader of the log has missed. No reader may continue there.
func (r *Ring) Skip(p protocol.Position) {
	for r.next < p {
		r.makeRoom(0)
		*r.extent(r.next) = extent{r.head, 0}
		r.next++
	}
}

// First returns the position of the oldest record that is kept.
func (r *Ring) First() protocol.Position { return r.first }

// Next returns the position of the next record.
func (r *Ring) Next() protocol.Position { return r.next }

// Has reports whether a reader can continue at p: the record there is kept, or p is the next position.
func (r *Ring) Has(p protocol.Position) bool { return r.first <= p && p <= r.next }

// Record returns the record at p, which must be kept. It is valid until the next Append.
func (r *Ring) Record(p protocol.Position) []byte {
	s := r.extent(p)
	at := s.start % uint64(len(r.data))
	return r.data[at : at+uint64(s.size)]
}

// AppendFrom appends the records from p up to, but not including, end, as many as fit in max bytes. It returns the position after them.
func (r *Ring) AppendFrom(dst []byte, p, end protocol.Position, max int) ([]byte, protocol.Position) {
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

// Memory returns the present memory of the ring, in bytes.
func (r *Ring) Memory() int { return len(r.data) + 16*len(r.extents) }

// MemoryBound returns the most that Memory ever returns.
func (r *Ring) MemoryBound() int { return r.maxBytes + 16*r.maxRecords }
