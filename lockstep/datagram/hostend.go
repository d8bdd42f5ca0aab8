package datagram

import (
	"errors"
	"math/bits"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// hostHold is how long a record that datagrams carry may wait for the stream. The stream then carries all of them in
	// one message, so that it stays complete, and costs few packets.
	hostHold = lockstep.Second

	// hostProbe is the least time between two datagrams on a path that acknowledges nothing, and between two that answer
	// a player without anything to say.
	hostProbe = 250 * lockstep.Millisecond

	// packetBytes is about the size of the headers of a packet: of IP, the transport and its encryption.
	packetBytes = 60

	// maxCredit bounds the bytes of repeated records that an end has saved up.
	maxCredit = 4 * MaxSize

	// ReceiptWait is how long a receipt waits for a frame to travel with.
	ReceiptWait = 50 * lockstep.Millisecond

	// maxWaiting is how many receipts wait for a datagram. The stream has the others.
	maxWaiting = 16

	// roomRecords is the room for records in a datagram.
	roomRecords = MaxSize - HeadSize - maxWaiting*ReceiptSize

	// headBytes is about the size of a datagram without records.
	headBytes = 18

	// spareCredit is kept for records that are overdue, or have been sent only once.
	spareCredit = maxCredit / 2

	// tooLarge in the place of a number of copies says that a record fits into no datagram.
	tooLarge = 1<<8 - 1

	never = lockstep.Time(1<<63 - 1)
)

// HostMemory is the size of a HostEnd with its [Refused], in bytes.
const HostMemory = 4 << 10

// A HostEnd is a host's end of the datagrams of one player. The zero HostEnd is ready.
type HostEnd struct {
	Path // read only: Receive and Send keep it

	have  protocol.Position // of the first record that the player lacks; 0 while it lacks a state
	above uint64            // bit i: it has the record at have+1+i
	next  protocol.Position // of the first record that no datagram was made for
	paid  protocol.Position // of the first record that gave no credit

	// Of the record at p, at p % Window, for each p from have to next.
	copies [Window]uint8
	sentAt [Window]lockstep.Time

	receipts [maxWaiting]waitingReceipt // the oldest first
	waiting  int                        // of them

	credit int               // bytes that may be spent on repetitions
	urgent protocol.Position // the stream carries the records before it at once
	heldAt lockstep.Time     // since when records or receipts wait for the stream; 0: none does
	lastAt lockstep.Time     // when the last datagram was sent
	again  lockstep.Time     // when the newest records are sent again; 0: they are not
	soon   int               // how often they are sent again in this tick, after that
	answer bool              // a datagram has arrived since lastAt
}

// A waitingReceipt is repeated in each datagram until one of them is acknowledged.
type waitingReceipt struct {
	Receipt
	at    lockstep.Time // of the decision
	first uint32        // number of the first datagram with it; 0 for none
}

var errNotSent = errors.New("an acknowledgement of what was not sent")

// Receive takes a datagram of the player, who has been sent no record from high on. If it is the newest, its [HostEnd.Acknowledge]
// follows.
func (e *HostEnd) Receive(now lockstep.Time, d *ToHost, high protocol.Position) (newest bool, err error) {
	if newest, err = e.Take(now, &d.Head); err != nil || !newest {
		return newest, err
	}
	lacks := d.Position // or more: the first position above all that it has
	if d.Above > 0 {
		lacks += protocol.Position(bits.Len64(d.Above)) + 1
	}
	if lacks > high {
		return false, errNotSent
	}
	return true, nil
}

// Acknowledge takes what the newest datagram says of records and receipts.
func (e *HostEnd) Acknowledge(d *ToHost) {
	if d.Position < e.have { // a keyframe took the player back
		e.next = d.Position
	}
	e.have, e.above, e.next = d.Position, d.Above, max(e.next, d.Position)
	n := 0
	for n < e.waiting && e.receipts[n].first > 0 && e.receipts[n].first <= e.Acked() {
		n++
	}
	copy(e.receipts[:], e.receipts[n:e.waiting])
	e.waiting -= n
	e.answer = true
}

// Lacks returns the position of the first record that the player lacks; 0 while it lacks a state.
func (e *HostEnd) Lacks() protocol.Position { return e.have }

// Ahead reports whether the player has said in a datagram that it has more than the records before a position.
func (e *HostEnd) Ahead(at protocol.Position) bool { return at < e.have }

// Restart forgets what the player has, because it is sent a keyframe.
func (e *HostEnd) Restart() { e.have, e.heldAt = 0, 0 }

// Receipt queues the receipt of an accepted command, and reports whether datagrams carry it. A nil HostEnd carries none.
func (e *HostEnd) Receipt(now lockstep.Time, r lockstep.Receipt) bool {
	if e == nil || r.Reason != lockstep.Accepted || e.waiting == maxWaiting {
		return false
	}
	for i := range e.receipts[:e.waiting] {
		if e.receipts[i].Sequence == r.Sequence {
			return true
		}
	}
	e.receipts[e.waiting] = waitingReceipt{Receipt: Receipt{Sequence: r.Sequence, Tick: r.Tick}, at: now}
	e.waiting++
	return true
}

// receiptDue returns when the first receipt waits no longer for a frame, or never.
func (e *HostEnd) receiptDue() lockstep.Time {
	for i := range e.receipts[:e.waiting] {
		if r := &e.receipts[i]; r.first == 0 {
			return r.at + ReceiptWait
		}
	}
	return never
}

// Holds reports whether the records from cursor to end may wait for the stream, whose round trip is given, because datagrams carry them.
func (e *HostEnd) Holds(now, stream lockstep.Time, cursor, end protocol.Position) bool {
	return e != nil && e.urgent <= cursor && end <= e.next && (e.heldAt == 0 || now < e.heldAt+hostHold) && e.Flows(now, stream)
}

// Hold notes that records or receipts wait for the stream.
func (e *HostEnd) Hold(now lockstep.Time) {
	if e.heldAt == 0 {
		e.heldAt = max(now, 1)
	}
}

// Release notes that none waits.
func (e *HostEnd) Release() { e.heldAt = 0 }

// Due reports whether time alone makes something to send, a datagram or what waits for the stream, and when it does so next.
func (e *HostEnd) Due(now lockstep.Time) (due bool, next lockstep.Time) {
	again, held := never, never
	if e.again > 0 {
		again = e.again
	}
	if e.heldAt > 0 {
		held = min(e.heldAt+hostHold, e.FlowsTo()+1)
	}
	next = never
	for _, at := range [...]lockstep.Time{e.receiptDue(), again, held} {
		if at <= now {
			due = true
		} else {
			next = min(next, at)
		}
	}
	return due, next
}

// Refused has the latest sequences of a player that were rejected without a decision. A datagram with such a command may be
// late: the player knows by now that it does not run.
type Refused []lockstep.Sequence // at sequence % CommandWindow

// Add notes a sequence.
func (r *Refused) Add(seq lockstep.Sequence) {
	if *r == nil {
		*r = make(Refused, record.CommandWindow)
	}
	(*r)[seq%record.CommandWindow] = seq
}

// Has reports whether a sequence is noted.
func (r Refused) Has(seq lockstep.Sequence) bool {
	return r != nil && r[seq%record.CommandWindow] == seq
}
