package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// datagramBuffers are what all peers share to read and write datagrams.
type datagramBuffers struct {
	reader  datagram.Reader
	writer  datagram.Writer
	in      datagram.ToHost
	records [][]byte // that a player lacks
}

// ReceiveDatagram takes one datagram of a connection. It may come late, twice, or never. A bad one affects only its sender,
// like a bad message, and counts for the same limits. The Host does not keep the bytes.
func (h *Host) ReceiveDatagram(now lockstep.Time, id PeerID, b []byte) {
	h.now = max(h.now, now)
	p := h.peers.find(id)
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
		p.datagrams = &datagram.HostEnd{}
	}
	lost := p.datagrams.Lost()
	newest, err := p.datagrams.Receive(h.now, d, p.stream.High())
	h.stats.DatagramsLost += uint64(p.datagrams.Lost() - lost)
	if err != nil {
		h.malformed(p, err.Error())
		return
	}
	if newest {
		if d.Position > 0 {
			h.ack(p, &protocol.Message{Position: d.Position, Tick: d.Tick})
		}
		p.datagrams.Acknowledge(d)
	}
	if p.state != Closed && len(d.Commands) > 0 && p.seat == lockstep.System {
		h.offend(p, protocol.ErrorRole, "spectators have no commands")
	} else if p.state != Closed {
		for i := range d.Commands {
			if !h.datagramCommand(p, &d.Commands[i]) {
				break // only the stream can answer it
			}
		}
	}
	if p.state != Closed && newest {
		h.peers.mark(p)
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
		p.datagrams.Receipt(h.now, r)
		return true
	}
	if p.refused.Has(c.Sequence) {
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

// SendDatagram appends the next datagram for a peer, or nothing. The caller sends each, before it calls Send: records that
// datagrams carry wait for the stream. A caller without a path of datagrams never calls it.
func (h *Host) SendDatagram(id PeerID, dst []byte) []byte {
	p := h.peers.find(id)
	if p == nil || p.datagrams == nil || p.state == Connecting || p.state == Closed || h.ending.Over() {
		return dst
	}
	s := datagram.Supply{Records: h.datagrams.records[:0], Period: h.pace.Period(), Redundancy: h.options.Redundancy}
	if at := p.datagrams.Lacks(); p.state == Live && at > 0 && h.ring.Has(at) {
		for end := min(h.log.visible(p.reader()), at+datagram.Window); at < end; at++ {
			s.Records = append(s.Records, h.ring.Record(at))
		}
	}
	h.datagrams.records = s.Records
	before := len(dst)
	dst, sent := p.datagrams.Send(&h.datagrams.writer, dst, h.now, &s)
	if sent.Urgent {
		h.peers.mark(p)
	}
	if len(dst) > before {
		p.stream.Carried(sent.High)
		h.stats.Datagrams++
		h.stats.BytesOut += uint64(len(dst) - before)
		h.stats.RepeatBytes += uint64(sent.Repeated)
		_, next := p.datagrams.Due(h.now)
		h.wake.at(next)
	}
	return dst
}

func (p *peer) datagramMemory() int {
	if p.datagrams == nil && p.refused == nil {
		return 0
	}
	return datagram.HostMemory
}
