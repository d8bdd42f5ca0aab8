package datagram

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// repeatWait is how long the acknowledgement of a datagram waits that only repeats others.
	repeatWait = 100 * lockstep.Millisecond

	// maxEarly is how many records may be here before the stream has brought them. Beyond that the player takes no more
	// from datagrams, and the stream goes on alone.
	maxEarly = 1024
)

// A PlayerEnd is a player's end of the datagrams of one connection.
type PlayerEnd struct {
	Path // read only: Receive and Send keep it

	reader Reader
	writer Writer
	in     ToPlayer
	out    ToHost

	// ahead has the records above the first that is missing, the one at position p at p % Window. Their memory is used again.
	ahead [Window][]byte
	held  int // how many there are

	early int               // records that are here and that the stream has not brought
	from  protocol.Position // sums has the records from here on
	sums  [maxEarly]recordSum

	newest  bool          // the datagram that is being taken is
	fresh   bool          // and has had something new
	news    int           // datagrams with something new that are not acknowledged
	ackBy   lockstep.Time // when what has come is acknowledged at the latest; 0: nothing has
	sentAt  lockstep.Time
	heard   lockstep.Time // when a datagram came last
	repeats uint64        // records that came again
}

// NewPlayerEnd returns the end of a connection whose stream goes on at a position.
func NewPlayerEnd(at protocol.Position) *PlayerEnd { return &PlayerEnd{from: at} }

// A recordSum identifies the bytes of a record, the one at position p at p % maxEarly.
type recordSum struct {
	size uint32
	hash uint64
}

//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func sumOf(b []byte) recordSum { return recordSum{uint32(len(b)), xxhash.Sum64(b)} }

func (s recordSum) String() string {
	return fmt.Sprintf("%d bytes (%s)", s.size, checksum.FormatHash(s.hash))
}

// Begin forgets what belongs to another stream: the present one goes on at a position.
func (e *PlayerEnd) Begin(at protocol.Position) {
	if e == nil {
		return
	}
	for i := range e.ahead {
		e.ahead[i] = e.ahead[i][:0]
	}
	e.held, e.early, e.from = 0, 0, at
}

// PlayerMemory is the size of a PlayerEnd besides the records that wait, in bytes.
const PlayerMemory = 16*maxEarly + 8<<10

// Memory returns how many bytes the end keeps. A nil PlayerEnd keeps none.
func (e *PlayerEnd) Memory() (n int) {
	if e == nil {
		return 0
	}
	for i := range e.ahead {
		n += cap(e.ahead[i])
	}
	return n + PlayerMemory
}

// Receive takes a datagram. It is valid until the next one. Its receipts are the player's; each of its records goes to
// [PlayerEnd.Offer].
func (e *PlayerEnd) Receive(now lockstep.Time, b []byte) (*ToPlayer, error) {
	d := &e.in
	if err := e.reader.ToPlayer(d, b); err != nil {
		return nil, err
	}
	newest, err := e.Take(now, &d.Head)
	if err != nil {
		return nil, err
	}
	e.heard, e.newest, e.fresh = now, newest, false
	if len(d.Receipts) > 0 {
		e.arrived(true)
	} else if len(d.Records) > 0 {
		e.arrived(false)
	}
	return d, nil
}

// arrived notes that a datagram is to be acknowledged. One that only repeats others is not urgent.
func (e *PlayerEnd) arrived(news bool) {
	if !e.newest || e.fresh {
		return
	}
	_, wait := e.AckEvery()
	if news {
		e.fresh = true
		e.news++
	} else {
		wait = max(wait, repeatWait)
	}
	if by := e.heard + wait; e.ackBy == 0 || by < e.ackBy {
		e.ackBy = by
	}
}

// Offer takes a record of the datagram, while the player lacks the one at a position. It reports whether that is it: then the player
// takes it now. One that is further ahead waits for [PlayerEnd.Waiting]. One that is here already must be the same.
func (e *PlayerEnd) Offer(r *Record, at protocol.Position) (next bool, err error) {
	switch {
	case r.Position < at:
		e.repeats++
		if r.Position >= e.from && at-r.Position <= maxEarly {
			return false, e.same(r.Position, sumOf(r.Bytes), "a datagram", "before")
		}
	case r.Position == at:
		if e.early == maxEarly {
			return false, nil
		}
		e.early++
		e.arrived(true)
		return true, nil
	case r.Position-at < Window:
		slot := &e.ahead[r.Position%Window]
		if len(*slot) > 0 && !bytes.Equal(*slot, r.Bytes) {
			return false, differs(r.Position, sumOf(r.Bytes), "a datagram", sumOf(*slot), "by another one")
		} else if len(*slot) == 0 {
			*slot = append(*slot, r.Bytes...)
			e.held++
			e.arrived(true)
		} else {
			e.repeats++
		}
	}
	return false, nil
}

// Waiting returns the record at a position, which has waited for the one before and which the player takes now, or nil.
func (e *PlayerEnd) Waiting(at protocol.Position) []byte {
	slot := &e.ahead[at%Window]
	if e.held == 0 || e.early == maxEarly || len(*slot) == 0 {
		return nil
	}
	b := *slot
	*slot = b[:0]
	e.held--
	e.early++
	return b
}

// Took notes the record at a position, which the player has taken, wherever it came from.
func (e *PlayerEnd) Took(at protocol.Position, b []byte) { e.sums[at%maxEarly] = sumOf(b) }

// Early reports whether the next record of the stream is here already: then it goes to [PlayerEnd.Repeated].
func (e *PlayerEnd) Early() bool { return e != nil && e.early > 0 }

// Repeated returns the size of the record of the stream that b begins with, which a datagram has brought, while the player lacks the
// one at a position.
func (e *PlayerEnd) Repeated(at protocol.Position, b []byte) (size int, err error) {
	at -= protocol.Position(e.early)
	size = min(int(e.sums[at%maxEarly].size), len(b))
	if err := e.same(at, sumOf(b[:size]), "the stream", "by a datagram"); err != nil {
		return 0, err
	}
	e.early--
	return size, nil
}

// same compares a record with the one of the same position that came before.
func (e *PlayerEnd) same(at protocol.Position, got recordSum, by, before string) error {
	if want := e.sums[at%maxEarly]; got != want {
		return differs(at, got, by, want, before)
	}
	return nil
}

func differs(at protocol.Position, got recordSum, by string, want recordSum, before string) error {
	return fmt.Errorf("lockstep: client: %w: record %d: got %v by %s, want %v, which came %s", record.ErrContent, at, got, by, want, before)
}

// Repeats returns how many records came again in a datagram.
func (e *PlayerEnd) Repeats() uint64 {
	if e == nil {
		return 0
	}
	return e.repeats
}
