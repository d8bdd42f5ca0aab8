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
	roomRecords = MaxSize - headSize - maxWaiting*receiptSize

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
	for n < e.waiting && e.receipts[n].first > 0 && e.receipts[n].first <= e.acked {
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
		held = min(e.heldAt+hostHold, e.flowsTo()+1)
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

// A Supply is what a host has for a player.
type Supply struct {
	Records    [][]byte      // that the player may see, from [HostEnd.Lacks] on, at most a Window
	Period     lockstep.Time // of a tick
	Redundancy int           // bytes of the datagrams, in percent of those of the stream; twice that where many are lost
}

// Sent says what [HostEnd.Send] has done.
type Sent struct {
	High     protocol.Position // behind the last record in the datagram
	Repeated int               // bytes of records in it that were in another one
	Urgent   bool              // the stream has to carry a record that fits into no datagram
}

// Send appends the next datagram, or nothing.
func (e *HostEnd) Send(w *Writer, dst []byte, now lockstep.Time, s *Supply) ([]byte, Sent) {
	var sent Sent
	again := e.again > 0 && now >= e.again
	if again {
		e.again = 0
	}
	if !e.Alive(now) && e.lastAt > 0 && now < e.lastAt+hostProbe {
		return dst, sent
	}
	end := e.have + protocol.Position(len(s.Records))
	fresh := e.consider(s, end, &sent)
	due := fresh || e.answer && now >= e.lastAt+hostProbe || now >= e.receiptDue()
	chosen, late := e.choose(now, s, end, again)
	if !due && !late && (!again || chosen == 0) {
		return dst, sent
	}
	head, ok := e.Next(now)
	if !ok {
		return dst, sent
	}
	before := len(dst)
	dst = e.write(w, dst, now, head, s, end, chosen, &sent)
	if chosen != 0 {
		e.credit -= len(dst) - before + packetBytes
	}
	e.lastAt, e.answer = now, false
	if fresh {
		e.soon = e.resends()
	}
	if e.soon > 0 && (fresh || again) {
		e.soon--
		e.again = now + ResendAfter
	}
	return dst, sent
}

// consider prepares the records up to end that no datagram was made for, and reports whether one waits for its first.
func (e *HostEnd) consider(s *Supply, end protocol.Position, sent *Sent) (fresh bool) {
	size := 0
	for ; e.next < end; e.next++ {
		n := len(s.Records[e.next-e.have])
		if i := e.next % Window; n+recordOverhead <= roomRecords {
			e.copies[i] = 0
		} else {
			e.copies[i] = tooLarge // the stream carries it
			e.urgent, sent.Urgent = e.next+1, true
		}
		if e.next >= e.paid {
			e.paid = e.next + 1
			size += n
		}
	}
	if size > 0 {
		percent := s.Redundancy
		if e.resends() > 1 {
			percent *= 2
		}
		e.credit = min(e.credit+(size+packetBytes+headBytes)*percent/100, maxCredit)
	}
	for at := e.have; at < end; at++ {
		fresh = fresh || e.copies[at%Window] == 0 && !e.has(at)
	}
	return fresh
}

// has reports whether the player has said that it has the record at p.
func (e *HostEnd) has(p protocol.Position) bool {
	return p < e.have || p > e.have && e.above&(1<<(p-e.have-1)) != 0
}

// choose returns the records that go into the next datagram, as bits from have on, and whether one of them is overdue. The
// newest one comes first: it has not been sent before, and it is what the next loss would cost. Then come the oldest: the player
// can run none before the first that it lacks. So neither starves the other, however large the frames are. Records that
// were not sent before are always sent, repetitions as far as the credit goes. With again, those that were sent once go too, and
// all where the loss is high.
func (e *HostEnd) choose(now lockstep.Time, s *Supply, end protocol.Position, again bool) (chosen uint64, late bool) {
	room, credit, most := roomRecords, e.credit-packetBytes-headBytes, e.Copies()
	resends := e.resends()
	switch resends {
	case 1:
		most++ // one burst can take two copies that are so close
	case 2:
		most = tooLarge // all that the player lacks goes into each
	}
	take := func(p protocol.Position) {
		i, bit := p%Window, uint64(1)<<(p-e.have)
		if chosen&bit != 0 || e.has(p) {
			return
		}
		n := len(s.Records[p-e.have]) + recordOverhead
		first := e.copies[i] == 0
		if n > room || !first && n > credit {
			return
		}
		waited := now - e.sentAt[i]
		overdue := waited >= e.overdue(true)
		if e.copies[i] > 1 && !overdue && n > credit-spareCredit {
			return
		}
		soon := waited < s.Period/2 && !(again && (e.copies[i] == 1 || resends > 1))
		if !first && !overdue && (int(e.copies[i]) >= most || soon) || e.copies[i] == tooLarge {
			return
		}
		chosen |= bit
		late = late || !first && overdue
		room -= n
		credit -= n
	}
	if end > e.have {
		take(end - 1)
	}
	for p := e.have; p < end; p++ {
		take(p)
	}
	return chosen, late
}

// write appends a datagram with all waiting receipts and the chosen records.
func (e *HostEnd) write(w *Writer, dst []byte, now lockstep.Time, head Head, s *Supply, end protocol.Position, chosen uint64, sent *Sent) []byte {
	d := &w.out
	d.Head, d.Receipts, d.Records = head, d.Receipts[:0], d.Records[:0]
	for i := range e.receipts[:e.waiting] {
		r := &e.receipts[i]
		if r.first == 0 {
			r.first = head.Number
		}
		d.Receipts = append(d.Receipts, r.Receipt)
	}
	for at := e.have; at < end; at++ {
		if chosen&(1<<(at-e.have)) == 0 {
			continue
		}
		b := s.Records[at-e.have]
		d.Records = append(d.Records, Record{Position: at, Bytes: b})
		i := at % Window
		if e.copies[i] > 0 {
			sent.Repeated += len(b)
		}
		e.copies[i] = min(e.copies[i]+1, tooLarge-1)
		e.sentAt[i] = now
		sent.High = at + 1
	}
	return w.ToPlayer(dst, d)
}
