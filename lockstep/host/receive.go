package host

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Receive takes one WebSocket message of a connection: one or more messages of the protocol. A bad message affects only
// its sender. The Host does not keep the bytes.
func (h *Host) Receive(now lockstep.Time, id PeerID, b []byte) {
	h.now = max(h.now, now)
	p := h.peers.find(id)
	if p == nil || p.state == Closed {
		return
	}
	p.link.Heard(h.now)
	h.stats.BytesIn += uint64(len(b))
	limit := protocol.MaxClientMessage
	if p.state == Connecting {
		limit = protocol.MaxAuthMessage
	}
	if len(b) > limit || len(b) == 0 {
		h.malformed(p, "message size")
		return
	}
	within := p.witness.Busy() || h.budget.Take(h.now, &p.tab, budget.Bytes, len(b))
	m := &h.received
	for len(b) > 0 && p.state != Closed {
		rest, err := h.reader.Read(m, b)
		if err != nil {
			h.malformed(p, err.Error())
			return
		}
		b = rest
		if p.state == Connecting {
			h.admit(p, m)
			continue
		}
		if !p.witness.Awaited(m) && !h.budget.Take(h.now, &p.tab, budget.Messages, 1) {
			within = false
		}
		h.handle(p, m, within)
	}
}

// handle takes one message of a welcomed peer. Beyond the limits it still takes acks and answers commands, and refuses
// all else.
func (h *Host) handle(p *peer, m *protocol.Message, within bool) {
	if p.seat != lockstep.System {
		h.seats[p.seat].before = protocol.SessionToken{} // the client has its new session
	}
	if p.view != nil && ofState(m.Kind) {
		h.malformed(p, "a viewer has no state")
		return
	}
	switch m.Kind {
	case protocol.KindAck:
		h.ack(p, m)
		if !within {
			h.offend(p, 0, "")
		}
		return
	case protocol.KindViewAck:
		if p.view == nil || !p.view.Ack(m.View, m.Tick) {
			h.malformed(p, "an ack of a view that was not sent")
			return
		}
		p.stream.Reach(max(p.stream.Tick(), m.Tick))
		if p.view.Due(h.options.AckEvery) {
			h.peers.mark(p)
		}
		if !within {
			h.offend(p, 0, "")
		}
		return
	case protocol.KindCommand:
		h.command(p, m, within)
		return
	}
	if !within {
		h.offend(p, protocol.ErrorLimit, "too many messages or bytes")
		return
	}
	switch m.Kind {
	case protocol.KindChecksum:
		h.report(p, m)
	case protocol.KindState, protocol.KindResimulated, protocol.KindPhases:
		switch fault := h.evidence.Receive(h.now, &p.witness, m); fault {
		case "":
			h.settle()
		case evidence.Unasked:
			h.offend(p, 0, "")
		default:
			h.malformed(p, string(fault))
		}
	case protocol.KindPanicked:
		h.panicked(p, m)
	case protocol.KindStateSyncRequest:
		switch {
		case p.state == Syncing: // one is being sent already
		case h.budget.Take(h.now, &p.tab, budget.Syncs, 1):
			h.startSync(p, "asked for")
		default:
			h.offend(p, protocol.ErrorLimit, "too many keyframes asked for")
		}
	case protocol.KindPing:
		h.message = protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: h.log.present(p.reader())}
		h.private(p, &h.message)
	case protocol.KindPong:
		p.link.Pong(h.now, m.Nonce, p.state == Live)
	case protocol.KindChat:
		h.chat(p, m)
	case protocol.KindReady:
		switch {
		case p.seat == lockstep.System:
			h.offend(p, protocol.ErrorRole, "spectators are not asked whether they are ready")
		case !h.lobby.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Ready):
			if p.limited(h.now) {
				h.private(p, errorMessage(protocol.ErrorLimit, "you have changed your mind too often: you stay ready", ""))
			}
		default:
			h.noteReady(p.seat)
		}
	case protocol.KindLeave:
		h.leave(p, m.Text)
	default:
		h.malformed(p, "a message that only a server sends, or a second auth")
	}
}

// command takes a command. The repeat of a decided one is always answered.
func (h *Host) command(p *peer, m *protocol.Message, within bool) {
	if p.seat == lockstep.System {
		h.offend(p, protocol.ErrorRole, "spectators have no commands")
		return
	}
	if h.seats[p.seat].leaves { // the coordinator still has the seat's previous player
		h.private(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.NotSeated}))
		return
	}
	if h.seats[p.seat].substitution.has(m.Sequence, h.c.LastDecided(p.seat)) {
		h.private(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.StaleCommand, Detail: "the substitute has used it"}))
		return
	}
	known := false
	if h.c.Seated(p.seat) {
		_, known = h.c.Receipt(p.seat, m.Sequence)
	}
	if !known && !(within && h.budget.Take(h.now, &p.tab, budget.Commands, 1)) {
		h.stats.Rejected[lockstep.RateLimited]++
		h.private(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.RateLimited}))
		h.offend(p, 0, "")
		return
	}
	h.answer(p, h.c.Submit(p.seat, m.Sequence, m.Command, m.Bytes), known)
}

// answer answers a command; known says that it was a repeat.
func (h *Host) answer(p *peer, r lockstep.Receipt, known bool) {
	if r.Reason == lockstep.NotSeated && h.lobby.Open() {
		r.Detail = "the match has not begun"
	}
	if !known {
		h.stats.Rejected[r.Reason]++
		h.seats[p.seat].played = true
		h.idle.Reset(p.seat)
	}
	if r.Reason != lockstep.Accepted {
		h.private(p, p.rejection(r))
		return
	}
	h.message = protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick}
	calm := p.calm == len(p.out)
	h.private(p, &h.message)
	if p.datagrams.Receipt(h.now, r) && calm {
		p.calm = len(p.out)
		h.wake.at(h.now + datagram.ReceiptWait)
	}
}

// rejection returns the answer to a command that is not accepted.
func (p *peer) rejection(r lockstep.Receipt) *protocol.Message {
	if !r.Reason.Final() {
		p.refused.Add(r.Sequence)
	}
	return &protocol.Message{Kind: protocol.KindCommandRejected, Sequence: r.Sequence, Reason: r.Reason, Text: r.Detail}
}

// report takes a checksum.
func (h *Host) report(p *peer, m *protocol.Message) {
	sum := checksum.Sum{Hash: m.Hash, Sections: m.Sections}
	if p.seat == lockstep.System {
		h.watcherReport(p, m.Tick, &sum)
		return
	}
	h.stats.Reports++
	if _, reported := h.c.Reported(m.Tick, p.seat); reported || !h.c.Seated(p.seat) || h.seats[p.seat].leaves {
		return // re-simulated from a keyframe, or a tick before it joined
	}
	// The ticks that the referee re-simulates are charged to the player and to the match.
	h.c.AllowResimulation(h.budget.Room(h.now, &p.tab, budget.Resimulations))
	before := h.c.Resimulated()
	err := h.c.Report(p.seat, m.Tick, &sum)
	if ticks := int(h.c.Resimulated() - before); ticks > 0 {
		h.budget.Take(h.now, &p.tab, budget.Resimulations, ticks)
	}
	if h.takeDesyncs(); err != nil {
		h.offend(p, protocol.ErrorReport, err.Error())
		return
	}
	if !h.options.Relay {
		h.stillDiffers(p, m.Tick)
		return
	}
	for i := range h.seats { // this report may have decided the check for all earlier reports
		if q := h.seats[i].peer; q != nil {
			h.stillDiffers(q, m.Tick)
		}
	}
}
