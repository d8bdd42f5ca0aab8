package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/vote"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
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

// offend answers a message that is not allowed, and closes a peer that sends too many of them. Code 0 sends no error,
// because the offence was answered in another way.
func (h *Host) offend(p *peer, code protocol.ErrorCode, text string) {
	h.stats.Offences++
	if !h.budget.Take(h.now, &p.tab, budget.Offences, 1) {
		h.close(p, protocol.CloseAbuse, "limits were exceeded again and again")
		return
	}
	switch code {
	case 0:
	case protocol.ErrorLimit:
		if p.limited(h.now) {
			h.private(p, errorMessage(protocol.ErrorLimit, text, ""))
		}
	default:
		h.private(p, errorMessage(code, text, ""))
	}
}

// malformed closes a peer that violates the protocol.
func (h *Host) malformed(p *peer, text string) {
	h.private(p, errorMessage(protocol.ErrorMalformed, text, ""))
	h.close(p, protocol.CloseMalformed, "malformed")
}

// limited reports whether to tell a peer about a limit, at most once a second.
func (p *peer) limited(now lockstep.Time) bool {
	if now < p.errorAt {
		return false
	}
	p.errorAt = now + lockstep.Second
	return true
}

func errorMessage(code protocol.ErrorCode, text, field string) *protocol.Message {
	return &protocol.Message{Kind: protocol.KindError, Code: uint8(code), Text: text, Field: field}
}

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

// chat writes a chat line to the log, which all peers receive, and counts it if it is a vote.
func (h *Host) chat(p *peer, m *protocol.Message) {
	switch h.log.talk.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Text, h.ring.Next()) {
	case talk.Forbidden:
		h.offend(p, protocol.ErrorRole, "spectators do not chat here")
		return
	case talk.TooMuch:
		h.offend(p, protocol.ErrorLimit, "too much chat")
		return
	case talk.Nothing:
		return
	case talk.Full:
		if p.limited(h.now) { // others may have caused it, so it is no offence
			h.private(p, errorMessage(protocol.ErrorLimit, "too much chat in the match", ""))
		}
	case talk.Said:
		_ = h.c.Note(p.seat, record.TopicChat, m.Text) // an error ends the match; Advance handles that
	}
	h.vote(p, m.Text)
}

// vote handles a chat line that may be a vote to kick a player.
func (h *Host) vote(p *peer, line string) {
	whom, found := vote.Parse(line)
	if !found || !h.options.VoteKick || p.seat == lockstep.System || h.c.Err() != nil {
		return
	}
	seats := make([]vote.Seat, len(h.seats))
	for i := range h.seats {
		s := &h.seats[i]
		seats[i] = vote.Seat{Taken: s.want != vacant, Name: s.name, Account: s.account, Votes: s.want == here && s.bot == nil}
	}
	accused, ok := vote.Named(whom, seats)
	if !ok || h.seats[accused].bot != nil || seats[accused].Account == p.tab.Payer() {
		h.private(p, errorMessage(protocol.ErrorRole, "no other player has that seat number or unique name", ""))
		return
	}
	a := seats[accused].Account
	if !h.lobby.Awaits(accused, h.seats.lobby()[accused]) && !h.budget.SpentLately(h.now, a) {
		h.private(p, errorMessage(protocol.ErrorRole, "only a player who has used up its share of the match's time, or is awaited in a lobby, can be voted out", ""))
		return
	}
	agree, all, kicked := h.votes.Cast(h.now, p.seat, a, seats)
	h.log.announce(accused, record.EventVote, fmt.Sprintf("%d of %d want this player to be kicked", agree, all))
	if !kicked {
		return
	}
	if _, err := h.Bans().AddPlayer(h.now, accused, 0, "voted out"); err != nil && h.c.Err() == nil {
		_, _ = h.Admin().Remove(h.now, accused, "voted out") // there are too many bans
	}
}

// clientPanicked is the reason why a client is lost that has said so.
const clientPanicked = "the rules panicked on its machine"

// panicked takes what a client says of a panic of the rules on its machine. It then ends the connection, so one message is enough.
func (h *Host) panicked(p *peer, m *protocol.Message) {
	if p.panicked || m.Tick == 0 || m.Tick > h.Now() {
		h.offend(p, 0, "")
		return
	}
	p.panicked = true
	h.made.event(h.log.now(), Event{Kind: PeerPanicked, Tick: m.Tick, Peer: p.id, Player: p.seat, Text: m.Text, Stack: m.Stack})
	if h.options.Evidence && p.seat != lockstep.System {
		h.evidence.Panicked(m.Tick, p.seat, h.seats.participants(), &record.Panic{Where: m.Field, Text: m.Text, Stack: m.Stack})
		h.settle()
	}
}
