package host

import (
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// SendDatagram appends the next datagram for a peer, or nothing. The caller sends each, before it calls Send: records that
// datagrams carry wait for the stream. A caller without a path of datagrams never calls it.
func (h *Host) SendDatagram(id PeerID, dst []byte) []byte {
	p := h.find(id)
	if p == nil || p.datagrams == nil || p.state == Connecting || p.state == Closed || h.over {
		return dst
	}
	g := p.datagrams
	again := g.again > 0 && h.now >= g.again
	if again {
		g.again = 0
	}
	if !g.path.Alive(h.now) && g.lastAt > 0 && h.now < g.lastAt+probeTime {
		return dst
	}
	end := g.have
	if p.state == Live && g.have > 0 && h.ring.Has(g.have) {
		end = min(h.visible(p), g.have+datagram.Window)
	}
	fresh := h.considerNew(p, end)
	due := fresh || g.answer && h.now >= g.lastAt+probeTime || h.now >= g.receiptDue()
	chosen, late := h.choose(g, end, again)
	if !due && !late && (!again || chosen == 0) {
		return dst
	}
	head, ok := g.path.Next(h.now)
	if !ok {
		return dst
	}
	before := len(dst)
	dst = h.writeDatagram(p, dst, head, end, chosen)
	if chosen != 0 {
		g.credit -= len(dst) - before + packetBytes
	}
	g.lastAt, g.answer = h.now, false
	if fresh {
		g.soon = g.path.Resends()
	}
	if g.soon > 0 && (fresh || again) {
		g.soon--
		g.again = h.now + datagram.ResendAfter
		h.wakeAt(g.again)
	}
	h.stats.Datagrams++
	h.stats.BytesOut += uint64(len(dst) - before)
	if g.heldAt > 0 {
		h.wakeAt(g.path.FlowsTo() + 1)
	}
	return dst
}

// considerNew prepares the records up to end that no datagram was made for, and reports whether one waits for its first.
func (h *Host) considerNew(p *peer, end protocol.Position) (fresh bool) {
	g, size := p.datagrams, 0
	for ; g.next < end; g.next++ {
		n := len(h.ring.Record(g.next))
		if i := g.next % datagram.Window; n+datagram.RecordSize <= roomRecords {
			g.copies[i] = 0
		} else {
			g.copies[i] = tooLarge // the stream carries it
			g.urgent = g.next + 1
			h.mark(p)
		}
		if g.next >= g.paid {
			g.paid = g.next + 1
			size += n
		}
	}
	if size > 0 {
		percent := h.options.Redundancy
		if g.path.Resends() > 1 {
			percent *= 2
		}
		g.credit = min(g.credit+(size+packetBytes+headBytes)*percent/100, maxCredit)
	}
	for at := g.have; at < end; at++ {
		fresh = fresh || g.copies[at%datagram.Window] == 0 && !g.has(at)
	}
	return fresh
}

const (
	// roomRecords is the room for records in a datagram.
	roomRecords = datagram.MaxSize - datagram.HeadSize - maxDatagramReceipts*datagram.ReceiptSize

	// headBytes is about the size of a datagram without records.
	headBytes = 18

	// spareCredit is kept for records that are overdue, or have been sent only once.
	spareCredit = maxCredit / 2

	// tooLarge in the place of a number of copies says that a record fits into no datagram.
	tooLarge = 1<<8 - 1
)

// has reports whether the player has said that it has the record at p.
func (g *datagramState) has(p protocol.Position) bool {
	return p < g.have || p > g.have && g.above&(1<<(p-g.have-1)) != 0
}

// choose returns the records that go into the next datagram, as bits from have on, and whether one of them is overdue. The
// newest one comes first: it has not been sent before, and it is what the next loss would cost. Then come the oldest: the player
// can run none before the first that it lacks. So neither starves the other, however large the frames are. Records that
// were not sent before are always sent, repetitions as far as the credit goes. With again, those that were sent once go too, and
// all where the loss is high.
func (h *Host) choose(g *datagramState, end protocol.Position, again bool) (chosen uint64, late bool) {
	room, credit, most := roomRecords, g.credit-packetBytes-headBytes, g.path.Copies()
	resends := g.path.Resends()
	switch resends {
	case 1:
		most++ // one burst can take two copies that are so close
	case 2:
		most = tooLarge // all that the player lacks goes into each
	}
	take := func(p protocol.Position) {
		i, bit := p%datagram.Window, uint64(1)<<(p-g.have)
		if chosen&bit != 0 || g.has(p) {
			return
		}
		n := len(h.ring.Record(p)) + datagram.RecordSize
		first := g.copies[i] == 0
		if n > room || !first && n > credit {
			return
		}
		waited := h.now - g.sentAt[i]
		overdue := waited >= g.path.Overdue(true)
		if g.copies[i] > 1 && !overdue && n > credit-spareCredit {
			return
		}
		soon := waited < h.pace.Period()/2 && !(again && (g.copies[i] == 1 || resends > 1))
		if !first && !overdue && (int(g.copies[i]) >= most || soon) || g.copies[i] == tooLarge {
			return
		}
		chosen |= bit
		late = late || !first && overdue
		room -= n
		credit -= n
	}
	if end > g.have {
		take(end - 1)
	}
	for p := g.have; p < end; p++ {
		take(p)
	}
	return chosen, late
}

// writeDatagram appends a datagram with all waiting receipts and the chosen records.
func (h *Host) writeDatagram(p *peer, dst []byte, head datagram.Head, end protocol.Position, chosen uint64) []byte {
	g, d := p.datagrams, &h.datagrams.out
	d.Head, d.Receipts, d.Records = head, d.Receipts[:0], d.Records[:0]
	for i := range g.receipts[:g.waiting] {
		r := &g.receipts[i]
		if r.first == 0 {
			r.first = head.Number
		}
		d.Receipts = append(d.Receipts, r.Receipt)
	}
	for at := g.have; at < end; at++ {
		if chosen&(1<<(at-g.have)) == 0 {
			continue
		}
		d.Records = append(d.Records, datagram.Record{Position: at, Bytes: h.ring.Record(at)})
		i := at % datagram.Window
		if g.copies[i] > 0 {
			h.stats.RepeatBytes += uint64(len(h.ring.Record(at)))
		}
		g.copies[i] = min(g.copies[i]+1, tooLarge-1)
		g.sentAt[i] = h.now
		p.high = max(p.high, at+1)
	}
	return h.datagrams.writer.ToPlayer(dst, d)
}
