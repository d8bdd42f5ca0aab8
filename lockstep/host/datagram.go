package host

import (
	"math/bits"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// holdTime is how long a record that datagrams carry may wait for the stream. The stream then carries all of them in
	// one message, so that it stays complete, and costs few packets.
	holdTime = lockstep.Second

	// probeTime is the least time between two datagrams on a path that acknowledges nothing, and between two that answer
	// a player without anything to say.
	probeTime = 250 * lockstep.Millisecond

	// packetBytes is about the size of the headers of a packet: of IP, the transport and its encryption.
	packetBytes = 60

	// maxCredit bounds the bytes of repeated records that a peer has saved up.
	maxCredit = 4 * datagram.MaxSize

	// receiptWait is how long a receipt waits for a frame to travel with.
	receiptWait = 50 * lockstep.Millisecond

	// maxDatagramReceipts is how many receipts wait for a datagram. The stream has the others.
	maxDatagramReceipts = 16
)

// datagramState is a peer's path of datagrams.
type datagramState struct {
	path  datagram.Path
	have  protocol.Position // of the first record that the player lacks; 0 while it lacks a state
	above uint64            // bit i: it has the record at have+1+i
	next  protocol.Position // of the first record that no datagram was made for
	paid  protocol.Position // of the first record that gave no credit

	// Of the record at p, at p % Window, for each p from have to next.
	copies [datagram.Window]uint8
	sentAt [datagram.Window]lockstep.Time

	receipts [maxDatagramReceipts]datagramReceipt // the oldest first
	waiting  int                                  // of them

	credit int               // bytes that may be spent on repetitions
	urgent protocol.Position // the stream carries the records before it at once
	heldAt lockstep.Time     // since when records or receipts wait for the stream; 0: none does
	lastAt lockstep.Time     // when the last datagram was sent
	again  lockstep.Time     // when the newest records are sent again; 0: they are not
	soon   int               // how often they are sent again in this tick, after that
	answer bool              // a datagram has arrived since lastAt
}

// A datagramReceipt is repeated in each datagram until one of them is acknowledged.
type datagramReceipt struct {
	datagram.Receipt
	at    lockstep.Time // of the decision
	first uint32        // number of the first datagram with it; 0 for none
}

// datagramBuffers are what all peers share to read and write datagrams.
type datagramBuffers struct {
	reader datagram.Reader
	writer datagram.Writer
	in     datagram.ToHost
	out    datagram.ToPlayer
}

// ReceiveDatagram takes one datagram of a connection. It may come late, twice, or never. A bad one affects only its sender,
// like a bad message, and counts for the same limits. The Host does not keep the bytes.
func (h *Host) ReceiveDatagram(now lockstep.Time, id PeerID, b []byte) {
	h.at(now)
	p := h.find(id)
	if p == nil || p.state == Closed || p.state == Connecting {
		return
	}
	h.stats.BytesIn += uint64(len(b))
	if !h.budget.Take(h.now, &p.tab, budget.Bytes, len(b)) || !h.budget.Take(h.now, &p.tab, budget.Messages, 1) {
		h.offend(p, 0, "")
		return
	}
	d := &h.datagrams.in
	if err := h.datagrams.reader.ToHost(d, b); err != nil {
		h.malformed(p, err.Error())
		return
	}
	if p.view != nil {
		h.malformed(p, "a viewer has no datagrams")
		return
	}
	if p.datagrams == nil {
		p.datagrams = &datagramState{}
	}
	path := &p.datagrams.path
	lost := path.Lost()
	newest, err := path.Take(h.now, &d.Head)
	h.stats.DatagramsLost += uint64(path.Lost() - lost)
	if err != nil {
		h.malformed(p, err.Error())
		return
	}
	if newest && !h.datagramAck(p, d) {
		return
	}
	h.datagramCommands(p, d)
	if p.state != Closed && newest {
		p.datagrams.answer = true
		h.mark(p)
	}
}

// datagramAck takes what the newest datagram says of the records, and reports whether that can be.
func (h *Host) datagramAck(p *peer, d *datagram.ToHost) bool {
	g := p.datagrams
	lacks := d.Position // or more: the first position above all that it has
	if d.Above > 0 {
		lacks += protocol.Position(bits.Len64(d.Above)) + 1
	}
	if lacks > p.high {
		h.malformed(p, "an acknowledgement of what was not sent")
		return false
	}
	if d.Position > 0 {
		h.ack(p, &protocol.Message{Position: d.Position, Tick: d.Tick})
	}
	if d.Position < g.have { // a keyframe took the player back
		g.next = d.Position
	}
	g.have, g.above, g.next = d.Position, d.Above, max(g.next, d.Position)
	n := 0
	for n < g.waiting && g.receipts[n].first > 0 && g.receipts[n].first <= g.path.Acked() {
		n++
	}
	copy(g.receipts[:], g.receipts[n:g.waiting])
	g.waiting -= n
	return p.state != Closed
}

// datagramCommands takes the commands of a datagram, up to the first that only the stream can answer.
func (h *Host) datagramCommands(p *peer, d *datagram.ToHost) {
	if len(d.Commands) > 0 && p.seat == lockstep.System {
		h.offend(p, protocol.ErrorRole, "spectators have no commands")
		return
	}
	for i := range d.Commands {
		if c := &d.Commands[i]; !h.datagramCommand(p, c) {
			return
		}
	}
}

// datagramCommand takes one command, and returns false if it only counts when it comes by the stream. A command whose
// sequence has an answer is a repetition, and needs none; an answer that is not final was given over the stream.
func (h *Host) datagramCommand(p *peer, c *datagram.Command) bool {
	s := &h.seats[p.seat]
	if s.leaves || !h.c.Seated(p.seat) || s.substitution.has(c.Sequence, h.c.LastDecided(p.seat)) {
		return false
	}
	if r, known := h.c.Receipt(p.seat, c.Sequence); known {
		p.datagrams.receipt(h.now, r)
		return true
	}
	if p.refused.has(c.Sequence) {
		return true
	}
	if !h.budget.Take(h.now, &p.tab, budget.Commands, 1) {
		return false
	}
	r := h.c.Submit(p.seat, c.Sequence, c.Kind, c.Payload)
	if !r.Reason.Final() {
		return false
	}
	h.answer(p, r, false)
	return true
}

// receipt queues the receipt of an accepted command, and reports whether datagrams carry it.
func (g *datagramState) receipt(now lockstep.Time, r lockstep.Receipt) bool {
	if g == nil || r.Reason != lockstep.Accepted || g.waiting == maxDatagramReceipts {
		return false
	}
	for i := range g.receipts[:g.waiting] {
		if g.receipts[i].Sequence == r.Sequence {
			return true
		}
	}
	g.receipts[g.waiting] = datagramReceipt{Receipt: datagram.Receipt{Sequence: r.Sequence, Tick: r.Tick}, at: now}
	g.waiting++
	return true
}

// receiptDue returns when the first receipt waits no longer for a frame, or never.
func (g *datagramState) receiptDue() lockstep.Time {
	for i := range g.receipts[:g.waiting] {
		if r := &g.receipts[i]; r.first == 0 {
			return r.at + receiptWait
		}
	}
	return never
}

// datagramMemory is the size of a peer's path of datagrams, with the sequences that were refused, in bytes.
const datagramMemory = 4 << 10

func (p *peer) datagramMemory() int {
	if p.datagrams == nil && p.refused == nil {
		return 0
	}
	return datagramMemory
}

// A refusedSequences has the latest sequences of a peer that were rejected without a decision. A datagram with such a command
// may be late: the player knows by now that it does not run.
type refusedSequences []lockstep.Sequence // at sequence % CommandWindow

func (r *refusedSequences) add(seq lockstep.Sequence) {
	if *r == nil {
		*r = make(refusedSequences, record.CommandWindow)
	}
	(*r)[seq%record.CommandWindow] = seq
}

func (r refusedSequences) has(seq lockstep.Sequence) bool {
	return r != nil && r[seq%record.CommandWindow] == seq
}
