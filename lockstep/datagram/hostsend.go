package datagram

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

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
		e.soon = e.Resends()
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
		if i := e.next % Window; n+RecordSize <= roomRecords {
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
		if e.Resends() > 1 {
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
	resends := e.Resends()
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
		n := len(s.Records[p-e.have]) + RecordSize
		first := e.copies[i] == 0
		if n > room || !first && n > credit {
			return
		}
		waited := now - e.sentAt[i]
		overdue := waited >= e.Overdue(true)
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
