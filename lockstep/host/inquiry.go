package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// differs is why a desynced player is removed.
const differs = "its checksum differs"

// An inquiry asks one client for states and collects them. Each client has at most one, so a client that does not
// answer does not delay the others.
type inquiry struct {
	peer     *peer
	exhibits []Exhibit // the requested states
	at       int       // the one being received
	buf      []byte
	deadline lockstep.Time
	evidence *Evidence // nil if a joiner in relay mode waits for the state
	remove   bool      // the peer is removed afterwards
}

// inquiryTimeout bounds the time for all states of an inquiry.
const inquiryTimeout = 10 * lockstep.Second

// begin sends the requests of an inquiry.
func (h *Host) begin(q *inquiry) {
	h.inquiries = append(h.inquiries, q)
	q.deadline = h.now + inquiryTimeout
	q.peer.inquiry = q
	h.wakeAt(q.deadline)
	for i := range q.exhibits {
		h.message = protocol.Message{Kind: protocol.KindStateRequest, Tick: q.exhibits[i].Tick}
		h.private(q.peer, &h.message)
	}
}

// state takes a chunk of a requested state.
func (h *Host) state(p *peer, m *protocol.Message) {
	q := p.inquiry
	if q == nil || m.Tick != q.exhibits[q.at].Tick {
		h.offend(p, 0, "") // too late, or not requested
		return
	}
	size := uint32(len(q.buf))
	switch {
	case m.Total == 0 || m.Total > uint32(h.options.MaxEvidence):
		h.next(q)
		return
	case m.Offset != size || len(m.Bytes) == 0:
		h.malformed(p, "a chunk of a state out of order")
		return
	}
	q.buf = append(q.buf, m.Bytes...)
	if m.Offset+uint32(len(m.Bytes)) == m.Total {
		e := &q.exhibits[q.at]
		e.Player, q.buf = q.buf, nil
		e.Hash, _ = h.hashOf(e.Player)
		h.next(q)
	}
	h.boundInquiries()
}

// boundInquiries ends the largest inquiry if all of them together hold more bytes than one may.
func (h *Host) boundInquiries() {
	sum, most := 0, 0
	var largest *inquiry
	for _, q := range h.inquiries {
		n := len(q.buf)
		for i := range q.exhibits {
			n += len(q.exhibits[i].Player)
		}
		if sum += n; n > most {
			most, largest = n, q
		}
	}
	if sum > 2*h.options.MaxEvidence {
		h.conclude(largest)
	}
}

// next waits for the next state, or ends the inquiry.
func (h *Host) next(q *inquiry) {
	q.buf = nil
	if q.at++; q.at == len(q.exhibits) {
		h.conclude(q)
	}
}

// conclude ends an inquiry with the states that have arrived.
func (h *Host) conclude(q *inquiry) {
	i := slices.Index(h.inquiries, q)
	h.inquiries = slices.Delete(h.inquiries, i, i+1)
	q.peer.inquiry, q.buf = nil, nil
	if q.remove {
		h.kick(q.peer, differs)
	}
	if q.evidence != nil {
		h.deliver(q.evidence)
		return
	}
	h.adopt(q.exhibits[0].Tick, q.exhibits[0].Player, q.exhibits[0].Hash)
}

// inquiryTime ends the inquiries that take too long.
func (h *Host) inquiryTime() {
	for i := 0; i < len(h.inquiries); {
		q := h.inquiries[i]
		if q.peer.state == Closed || h.now >= q.deadline {
			h.conclude(q)
			continue
		}
		h.wakeAt(q.deadline)
		i++
	}
}
