package host

import (
	"errors"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
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
		h.peers.malformed(p, "message size")
		h.release()
		return
	}
	within := p.witness.Busy() || h.budget.Take(h.now, &p.tab, budget.Bytes, len(b))
	m := &h.received
	for len(b) > 0 && p.state != Closed {
		rest, err := h.reader.Read(m, b)
		if err != nil {
			h.peers.malformed(p, err.Error())
			h.release()
			return
		}
		b = rest
		if p.state == Connecting {
			h.admit(p, m)
		} else {
			within = (p.witness.Awaited(m) || h.budget.Take(h.now, &p.tab, budget.Messages, 1)) && within
			h.handle(p, m, within)
		}
		h.conclude()
	}
}

// handle takes one message of a welcomed peer. Beyond the limits it still takes acks and answers commands, and refuses
// all else.
func (h *Host) handle(p *peer, m *protocol.Message, within bool) {
	if p.seat != lockstep.System {
		h.seats.table[p.seat].before = protocol.SessionToken{} // the client has its new session
	}
	if p.view != nil && ofState(m.Kind) {
		h.peers.malformed(p, "a viewer has no state")
		return
	}
	switch m.Kind {
	case protocol.KindAck:
		h.ack(p, m)
		if !within {
			h.peers.offend(h.now, p, 0, "")
		}
		return
	case protocol.KindViewAck:
		if p.view == nil || !p.view.Ack(m.View, m.Tick) {
			h.peers.malformed(p, "an ack of a view that was not sent")
			return
		}
		p.stream.Reach(max(p.stream.Tick, m.Tick))
		if p.view.Due(h.options.AckEvery) {
			h.peers.mark(p)
		}
		if !within {
			h.peers.offend(h.now, p, 0, "")
		}
		return
	case protocol.KindCommand:
		h.command(p, m, within)
		return
	}
	if !within {
		h.peers.offend(h.now, p, protocol.ErrorLimit, "too many messages or bytes")
		return
	}
	switch m.Kind {
	case protocol.KindChecksum:
		h.report(p, m)
	case protocol.KindState, protocol.KindResimulated, protocol.KindPhases, protocol.KindFlight:
		switch fault := h.evidence.Receive(h.now, &p.witness, m); fault {
		case "":
			h.settle()
		case evidence.Unasked:
			h.peers.offend(h.now, p, 0, "")
		default:
			h.peers.malformed(p, string(fault))
		}
	case protocol.KindPanicked: // the client ends the connection then, so one is enough
		if p.panicked || m.Tick == 0 || m.Tick > h.Now() {
			h.peers.offend(h.now, p, 0, "")
			return
		}
		p.panicked = true
		h.out.event(Event{Kind: PeerPanicked, Tick: m.Tick, Peer: p.id, Player: p.seat, Text: m.Text, Stack: m.Stack})
		if h.options.Evidence && p.seat != lockstep.System {
			h.evidence.Panicked(m.Tick, p.seat, h.seats.participants(), &record.Panic{Where: m.Field, Text: m.Text, Stack: m.Stack})
			h.settle()
		}
	case protocol.KindStateSyncRequest:
		switch {
		case p.state == Syncing: // one is being sent already
		case h.budget.Take(h.now, &p.tab, budget.Syncs, 1):
			h.startSync(p, "asked for")
		default:
			h.peers.offend(h.now, p, protocol.ErrorLimit, "too many keyframes asked for")
		}
	case protocol.KindPing:
		h.peers.send(p, protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: h.log.present(p.reader())})
	case protocol.KindPong:
		p.link.Pong(h.now, m.Nonce, p.state == Live)
	case protocol.KindChat:
		h.chat(p, m)
	case protocol.KindReady:
		switch {
		case p.seat == lockstep.System:
			h.peers.offend(h.now, p, protocol.ErrorRole, "spectators are not asked whether they are ready")
		case !h.lobby.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Ready):
			if p.limited(h.now) {
				h.peers.tell(p, protocol.ErrorLimit, "you have changed your mind too often: you stay ready", "")
			}
		default:
			h.seats.noteReady(h.now, p.seat, h.budget.Purse(h.now, &p.tab))
		}
	case protocol.KindLeave:
		why := leftUntold
		if p.seat != lockstep.System && m.Text != "" && h.log.talk.Note(h.budget.Purse(h.now, &p.tab), m.Text) { // the log has it, so it counts like a note
			why += ": " + m.Text
		}
		h.peers.close(p, protocol.CloseLeft, pack.Clip(why, record.MaxNote))
	default:
		h.peers.malformed(p, "a message that only a server sends, or a second auth")
	}
}

// command takes a command. The repeat of a decided one is always answered.
func (h *Host) command(p *peer, m *protocol.Message, within bool) {
	if p.seat == lockstep.System {
		h.peers.offend(h.now, p, protocol.ErrorRole, "spectators have no commands")
		return
	}
	if h.seats.table[p.seat].leaves { // the coordinator still has the seat's previous player
		h.peers.send(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.NotSeated}))
		return
	}
	if h.seats.table[p.seat].substitution.has(m.Sequence, h.c.LastDecided(p.seat)) {
		h.peers.send(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.StaleCommand, Detail: "the substitute has used it"}))
		return
	}
	known := false
	if h.c.Seated(p.seat) {
		_, known = h.c.Receipt(p.seat, m.Sequence)
	}
	if !known && !(within && h.budget.Take(h.now, &p.tab, budget.Commands, 1)) {
		h.stats.Rejected[lockstep.RateLimited]++
		h.peers.send(p, p.rejection(lockstep.Receipt{Sequence: m.Sequence, Reason: lockstep.RateLimited}))
		h.peers.offend(h.now, p, 0, "")
		return
	}
	h.answer(p, h.c.Submit(p.seat, m.Sequence, m.Command, m.Bytes), known)
}

// answer answers a command; known says that it was a repeat.
func (h *Host) answer(p *peer, r lockstep.Receipt, known bool) {
	if r.Reason == lockstep.NotSeated && h.lobby.Open {
		r.Detail = "the match has not begun"
	}
	if !known {
		h.stats.Rejected[r.Reason]++
		h.seats.table[p.seat].played = true
		h.idle.Reset(p.seat)
	}
	if r.Reason != lockstep.Accepted {
		h.peers.send(p, p.rejection(r))
		return
	}
	calm := p.calm == len(p.out)
	h.peers.send(p, protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick})
	if p.datagrams.Receipt(h.now, r) && calm {
		p.calm = len(p.out)
		h.wake.at(h.now + datagram.ReceiptWait)
	}
}

// rejection returns the answer to a command that is not accepted.
func (p *peer) rejection(r lockstep.Receipt) protocol.Message {
	if !r.Reason.Final() {
		p.refused.Add(r.Sequence)
	}
	return protocol.Message{Kind: protocol.KindCommandRejected, Sequence: r.Sequence, Reason: r.Reason, Text: r.Detail}
}

// report takes a checksum.
func (h *Host) report(p *peer, m *protocol.Message) {
	sum := checksum.Sum{Hash: m.Hash, Sections: m.Sections}
	if p.seat == lockstep.System {
		h.watcherReport(p, m.Tick, &sum)
		return
	}
	h.stats.Reports++
	if _, reported := h.c.Reported(m.Tick, p.seat); reported || !h.c.Seated(p.seat) || h.seats.table[p.seat].leaves {
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
		h.peers.offend(h.now, p, protocol.ErrorReport, err.Error())
		return
	}
	if k, _ := h.c.Check(m.Tick); k.Status == coordinator.CheckAgreed && k.Tick == m.Tick && k.Hash == m.Hash && p.canFly(h.now, h.budget) {
		h.evidence.Agreed(h.now, &p.witness, m.Tick)
		h.settle()
	}
	// The coordinator reports only the first of several consecutive desyncs. In relay mode this report may have decided the check for all
	// earlier ones.
	for i := range h.seats.table {
		s := &h.seats.table[i]
		if q := s.peer; q != nil && (q == p || h.options.Relay) && h.c.StillDiffers(q.seat, m.Tick) && q.state != Syncing && m.Tick > s.resynced {
			h.react(q, &s.resynced)
		}
	}
}

// ReceiveDatagram takes one datagram of a connection. It may come late, twice, or never. A bad one affects only its sender,
// like a bad message, and counts for the same limits. The Host does not keep the bytes.
func (h *Host) ReceiveDatagram(now lockstep.Time, id PeerID, b []byte) {
	h.now = max(h.now, now)
	p := h.peers.find(id)
	if p == nil || !p.joined() {
		return
	}
	defer h.conclude()
	h.stats.BytesIn += uint64(len(b))
	if !h.budget.Take(h.now, &p.tab, budget.Bytes, len(b)) || !h.budget.Take(h.now, &p.tab, budget.Messages, 1) {
		h.peers.offend(h.now, p, 0, "")
		return
	}
	d := &h.datagrams.in
	if err := h.datagrams.reader.ToHost(d, b); err != nil {
		h.peers.malformed(p, err.Error())
		return
	}
	if p.view != nil {
		h.peers.malformed(p, "a viewer has no datagrams")
		return
	}
	if p.datagrams == nil {
		p.datagrams = &datagram.HostEnd{}
	}
	lost := p.datagrams.Lost()
	newest, err := p.datagrams.Receive(h.now, d, p.stream.High)
	h.stats.DatagramsLost += uint64(p.datagrams.Lost() - lost)
	if err != nil {
		h.peers.malformed(p, err.Error())
		return
	}
	if newest {
		if d.Position > 0 {
			h.ack(p, &protocol.Message{Position: d.Position, Tick: d.Tick})
		}
		p.datagrams.Acknowledge(d)
	}
	if p.state != Closed && len(d.Commands) > 0 && p.seat == lockstep.System {
		h.peers.offend(h.now, p, protocol.ErrorRole, "spectators have no commands")
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
	s := &h.seats.table[p.seat]
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
	if p == nil || p.datagrams == nil || !p.joined() || h.ending.Over {
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

// chat writes a chat line to the log, which all peers receive, and counts it if it is a vote.
func (h *Host) chat(p *peer, m *protocol.Message) {
	switch h.log.talk.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Text, h.ring.Next()) {
	case talk.Forbidden:
		h.peers.offend(h.now, p, protocol.ErrorRole, "spectators do not chat here")
		return
	case talk.TooMuch:
		h.peers.offend(h.now, p, protocol.ErrorLimit, "too much chat")
		return
	case talk.Nothing:
		return
	case talk.Full:
		if p.limited(h.now) { // others may have caused it, so it is no offence
			h.peers.tell(p, protocol.ErrorLimit, "too much chat in the match", "")
		}
	case talk.Said:
		_ = h.c.Note(p.seat, record.TopicChat, m.Text) // an error ends the match; Advance handles that
	}
	if !h.options.VoteKick || p.seat == lockstep.System || h.c.Err() != nil {
		return
	}
	accused, refusal, kicked := h.seats.vote(h.now, p.seat, p.tab.Payer(), m.Text)
	if refusal != "" {
		h.peers.tell(p, protocol.ErrorRole, refusal, "")
	}
	if !kicked {
		return
	}
	if _, err := h.Bans().AddPlayer(h.now, accused, 0, "voted out"); err != nil && h.c.Err() == nil {
		_, _ = h.Admin().Remove(h.now, accused, "voted out") // there are too many bans
	}
}

// admit takes the first message of a connection, which must be auth.
func (h *Host) admit(p *peer, m *protocol.Message) {
	if m.Kind != protocol.KindAuth {
		h.peers.malformed(p, "the first message is not auth")
		return
	}
	a := m.Auth
	if err := p.identify(a, h.auth, h.views, len(h.seats.table)); err != nil {
		field := "views"
		if wrong := (*lockstep.IdentityError)(nil); errors.As(err, &wrong) {
			field = wrong.Field
		}
		h.peers.tell(p, protocol.ErrorIdentity, err.Error(), field)
		h.peers.close(p, protocol.CloseRefused, "identity")
		return
	}
	if h.log.policy.Records(disclosure.Player) != nil && p.view == nil {
		h.peers.refuse(p, protocol.ErrorRole, "this match is sent as views: the client must ask for them", "views")
		return
	}
	if seat, ok := h.seats.bySession(a.Session); ok {
		s := &h.seats.table[seat]
		if h.mayTake(p, seat, s.grant(), true) {
			h.welcome(p, seat, a.Position)
		}
		return
	}
	grant, err := h.options.authorize(a.Token)
	if err != nil {
		h.peers.refuse(p, protocol.ErrorRefused, "refused", "")
		return
	}
	if b := h.bans.Of(h.now, grant.person(p.from), h.seats.seated(grant.Subject)); b != nil {
		h.peers.close(p, protocol.CloseBanned, b.Text(h.now))
		return
	}
	p.role, p.name = grant.Role, pack.Clip(grant.Name, record.MaxName)
	if grant.Role == protocol.Spectator {
		h.watch(p, &grant)
		return
	}
	seat, ok := h.seats.holderOf(h.header.Match, &grant)
	if !ok && grant.Seat == AnySeat {
		if seat, ok = h.seats.idlest(h.now, p.from); ok {
			h.Admin().giveUp(seat, protocol.CloseInactive, makesRoom)
		}
	}
	if !ok {
		h.peers.refuse(p, protocol.ErrorFull, "no seat is free", "")
		return
	}
	if !h.mayTake(p, seat, &grant, h.seats.table[seat].owner == grant.Subject) {
		return
	}
	if h.seats.table[seat].own(h.now, &grant, p.name) {
		h.idle.Reset(seat)
	}
	h.ending.Peopled()
	h.welcome(p, seat, 0)
}

// identify takes what a client says of itself, and whether it wants views. It returns why the client does not fit the match, or nil.
func (p *peer) identify(a *protocol.Auth, own *protocol.Auth, v *views.Views, seats int) error {
	p.platform, p.sources = record.SplitPlatform(a.Platform)
	p.build = a.Build
	p.witness.Resimulates, p.witness.Flies = a.Can(protocol.Resimulate), a.Can(protocol.Flight)
	p.stream.Unpacks = a.Can(protocol.Packed)
	if !a.Can(protocol.Views) {
		return a.CheckIdentity(own)
	}
	if v == nil {
		return errNoViews
	}
	p.view = views.NewViewing(seats)
	return a.CheckViewer(v.Identity(*own))
}

const noViews = "the match has no views"

var errNoViews = errors.New(noViews)

// mayTake charges a player for taking a seat, which is its own already or not. It closes the connection and returns false if the
// player takes seats too often, or if a newer connection of the same player has replaced it: its auth was delayed, and its client has given it up.
func (h *Host) mayTake(p *peer, seat lockstep.Player, g *Grant, its bool) bool {
	if owner := h.seats.table[seat].peer; its && owner != nil && owner.id >= p.id {
		h.peers.close(p, protocol.CloseReplaced, "a later connection has the seat")
		return false
	}
	h.budget.Welcome(h.now, &p.tab, p.granted(g))
	if !h.budget.Take(h.now, &p.tab, budget.Returns, 1) {
		h.peers.close(p, protocol.CloseBusy, "seats are taken too often")
		return false
	}
	return true
}

// granted takes the grant of a peer that is welcomed, and returns who pays for it.
func (p *peer) granted(g *Grant) budget.Holder {
	p.subject, p.guest, p.token = g.Subject, g.Guest, g.ID
	return budget.Holder{Subject: g.Subject, Address: p.from, Guest: g.Guest, Spectator: g.Role == protocol.Spectator}
}

// PeerOf returns the connection that plays with a session, so that the caller can tell whose datagrams arrive.
func (x Info) PeerOf(t protocol.SessionToken) (PeerID, bool) {
	seat, ok := x.h.seats.bySession(t)
	if !ok || x.h.seats.table[seat].peer == nil {
		return 0, false
	}
	return x.h.seats.table[seat].peer.id, true
}

// watch welcomes a spectator.
func (h *Host) watch(p *peer, g *Grant) {
	if h.peers.spectators() >= h.options.MaxSpectators {
		h.peers.refuse(p, protocol.ErrorFull, noPlace, "")
		return
	}
	if wait := lockstep.Time(h.log.keyframes.UntilSeen(h.c.Now(), h.log.policy.Delay)) * h.pace.Period(); wait > h.options.SyncTimeout/2 {
		// Longer than a client may wait for a state.
		p.retry = uint32(wait.Milliseconds()) + 1000
		h.peers.close(p, protocol.CloseBusy, "the match can be seen after its delay")
		return
	}
	if p.view != nil && h.log.policy.Delay > 0 {
		h.peers.refuse(p, protocol.ErrorRole, "spectators of this match are delayed, and views are not", "")
		return
	}
	if p.view != nil {
		p.viewer = g.Viewer
	} else if g.Viewer != (lockstep.Viewer{}) {
		h.peers.refuse(p, protocol.ErrorRole, "this token is for the views of "+g.Viewer.String()+": the client must ask for views", "views")
		return
	}
	h.budget.Welcome(h.now, &p.tab, p.granted(g))
	h.greet(p, &protocol.Welcome{Seat: lockstep.System, Role: protocol.Spectator})
	h.out.event(Event{Kind: PeerJoined, Peer: p.id, Player: lockstep.System, Text: p.name})
	h.startSync(p, "joined")
}

// welcome gives a peer its seat. A position is that of the first record that the client lacks; 0 if it has none.
func (h *Host) welcome(p *peer, seat lockstep.Player, position protocol.Position) {
	s := &h.seats.table[seat]
	before := s.want
	if s.inherited {
		s.inherited, before = false, vacant // nobody in this match had it
	}
	old := s.peer
	s.peer, s.want, s.from = p, here, p.from // the old one can no longer act for the seat or lose it
	if old != nil {
		h.peers.close(old, protocol.CloseReplaced, "another connection has the seat now")
		h.release()
	}
	h.idle.Connected(seat)
	h.log.giveBack(seat, &h.seats.table[seat].substitution)
	h.seats.bill(seat, p.tab.Payer())
	h.log.noteName(seat, s, h.budget.Purse(h.now, &p.tab))
	p.seat, p.witness.Player, p.role = seat, seat, s.role
	if p.name == "" {
		p.name = s.name
	}
	s.before = s.session
	//samestep:allow unseen makes session tokens, which never reach a simulation
	h.options.Random(s.session[:])
	h.seats.changed = true
	h.logSeats()
	resumed := position > 0 && h.ring.Has(position) && p.view == nil
	w := &protocol.Welcome{Seat: seat, Role: s.role, Session: s.session, Resumed: resumed, LastSequence: h.c.LastDecided(seat)}
	if resumed {
		w.Position = position
	}
	h.greet(p, w)
	kind := PeerResumed
	if before == vacant {
		kind = PeerJoined
	}
	h.out.event(Event{Kind: kind, Peer: p.id, Player: seat, Text: s.name})
	if !resumed {
		h.startSync(p, "joined")
		return
	}
	h.stats.Resumes++
	p.state = CatchingUp
	h.log.awaitState(p, false)
	p.stream.Resume(h.now, position)
	h.peers.mark(p)
}

// greet sends welcome and starts the timers of a peer.
func (h *Host) greet(p *peer, w *protocol.Welcome) {
	w.Tick, w.AckEvery = h.log.present(p.reader()), uint16(h.options.AckEvery)
	w.InputDelay, w.SpeedPercent = uint16(h.c.InputDelay()), h.pace.Speed()
	if !w.Resumed {
		w.Position = h.log.shown(p.reader())
	}
	p.state, p.welcomed = Syncing, true
	p.stream.Reach(w.Tick)
	p.link.Begin(h.now)
	h.peers.send(p, protocol.Message{Kind: protocol.KindWelcome, Welcome: w})
	if p.waitVersion = h.pace.Version; h.pace.Told.Reason != "" {
		p.waitVersion-- // it does not know
	}
}

// Known reports whether a session resumes a seat, or else whether a subject has one or had it before a recovery. It returns the owner
// of the seat. A caller can so tell a player who returns from others at the same address before it takes the connection.
func (x Info) Known(session protocol.SessionToken, subject string) (owner string, ok bool) {
	if seat, ok := x.h.seats.bySession(session); ok {
		return x.h.seats.table[seat].owner, true
	}
	if subject == "" {
		return "", false
	}
	return subject, x.h.seats.known(x.h.header.Match, subject)
}
