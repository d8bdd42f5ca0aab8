package host

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// differs is why a desynced player is removed.
const differs = "its checksum differs"

// An inquiry asks one client for states, and to compute ticks again, and collects the answers. Each client has at most one, so a client that does not
// answer does not delay the others.
type inquiry struct {
	peer     *peer
	exhibits []Exhibit // the requested states
	at       int       // the one being received
	buf      []byte
	deadline lockstep.Time
	evidence *Evidence // nil if a joiner in relay mode waits for the state
	remove   bool      // the peer is removed afterwards
	again    *again    // or nil
}

// inquiryTimeout bounds the time for all states of an inquiry. Ticks that are computed again have more, see again.time.
const inquiryTimeout = 10 * lockstep.Second

// begin sends the requests of an inquiry.
func (h *Host) begin(q *inquiry) {
	h.inquiries = append(h.inquiries, q)
	q.deadline = h.now + inquiryTimeout
	if q.again != nil {
		q.deadline = h.now + q.again.time(&h.header.Settings)
	}
	q.peer.inquiry = q
	h.wakeAt(q.deadline)
	for i := range q.exhibits {
		h.message = protocol.Message{Kind: protocol.KindStateRequest, Tick: q.exhibits[i].Tick}
		h.private(q.peer, &h.message)
	}
	if q.again != nil {
		h.askRun(q.peer, q.again)
	}
}

// state takes a chunk of a requested state.
func (h *Host) state(p *peer, m *protocol.Message) {
	q := p.inquiry
	if q == nil || q.at == len(q.exhibits) || m.Tick != q.exhibits[q.at].Tick {
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
		n := len(q.buf) + q.again.memory()
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
	if q.at++; q.at == len(q.exhibits) && q.again != nil {
		q.again.waits = false
	}
	h.finishInquiry(q)
}

// finishInquiry ends an inquiry if all answers have come.
func (h *Host) finishInquiry(q *inquiry) {
	if q.at == len(q.exhibits) && q.again.done() {
		h.conclude(q)
	}
}

// conclude ends an inquiry with what has arrived.
func (h *Host) conclude(q *inquiry) {
	i := slices.Index(h.inquiries, q)
	h.inquiries = slices.Delete(h.inquiries, i, i+1)
	q.peer.inquiry, q.buf = nil, nil
	if q.remove {
		h.kick(q.peer, differs)
	}
	if q.evidence != nil {
		q.evidence.Resimulation = h.concludeAgain(q)
		q.evidence.Exhibits = q.exhibits
		slices.SortStableFunc(q.evidence.Exhibits, func(a, b Exhibit) int { return cmp.Compare(a.Tick, b.Tick) })
		// The tick of the report may have been asked for once more, for its phases.
		q.evidence.Exhibits = slices.CompactFunc(q.evidence.Exhibits, func(a, b Exhibit) bool { return a.Tick == b.Tick })
		h.deliver(q.evidence)
		return
	}
	h.adopt(q.exhibits[0].Tick, q.exhibits[0].Player, q.exhibits[0].Hash)
}

// concludeAll ends all inquiries, because the match is over: what has arrived until now is the evidence.
func (h *Host) concludeAll() {
	for _, q := range slices.Clone(h.inquiries) {
		if q.evidence != nil {
			q.remove = false
			h.conclude(q)
		}
	}
}

// inquiryTime compares answers, and ends the inquiries that take too long.
func (h *Host) inquiryTime() {
	h.compareTime()
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
