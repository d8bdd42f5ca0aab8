package host

import (
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Send appends the next bytes for a peer, at most so many: its private messages, then the chunks of a keyframe, then
// records. They are one WebSocket message, or empty if there is nothing to send. most counts as at least
// MaxServerMessage/2; a larger record is sent alone.
func (h *Host) Send(id PeerID, dst []byte, most int) []byte {
	p := h.peers.find(id)
	if p == nil {
		return dst
	}
	begin := len(dst)
	limit := begin + min(max(most, protocol.MaxServerMessage/2), protocol.MaxServerMessage-roomClosing)
	calm := len(p.out) > 0 && p.calm == len(p.out) && !h.ending.Over && p.holds(h.now, h.log.window(p))
	if !calm {
		dst = p.takePrivate(dst)
	}
	if p.waitVersion != h.pace.Version && p.joined() {
		dst = p.appendWait(dst, &h.peers.writer, h.now, h.pace)
	}
	if k := p.stream.Keyframe; k != nil {
		to, n, over := p.stream.AppendChunks(dst, &h.peers.writer, limit, h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)))
		h.budget.TakeKeyframe(h.now, &p.tab, n, len(k.Bytes))
		h.stats.SyncBytes += uint64(n)
		if dst = to; over {
			p.state = CatchingUp
		}
	}
	if calm && len(dst) > begin {
		dst = p.takePrivate(dst)
	} else if calm {
		h.wake.at(p.hold(h.now))
	}
	switch {
	case !p.streams():
	case p.view != nil:
		dst = h.appendViews(p, dst, begin, limit)
	default:
		dst = h.appendRecords(p, dst, begin, limit)
	}
	h.conclude()
	h.stats.BytesOut += uint64(len(dst) - begin)
	return dst
}

// holds reports whether the records up to end may wait for the stream, because datagrams carry them.
func (p *peer) holds(now lockstep.Time, end protocol.Position) bool {
	return p.state == Live && p.datagrams.Holds(now, p.link.RTT, p.stream.Cursor, end)
}

// hold makes what a peer has to get wait for the stream, and returns until when.
func (p *peer) hold(now lockstep.Time) (until lockstep.Time) {
	p.datagrams.Hold(now)
	_, until = p.datagrams.Due(now)
	return until
}

// takePrivate appends the private messages.
func (p *peer) takePrivate(dst []byte) []byte {
	if len(p.out) == 0 {
		return dst
	}
	dst = append(dst, p.out...)
	if p.out, p.calm = p.out[:0], 0; cap(p.out) > keepPrivate {
		p.out = nil
	}
	return dst
}

// appendRecords appends the next records of a peer.
func (h *Host) appendRecords(p *peer, dst []byte, begin, limit int) []byte {
	at := p.stream.Cursor
	if !h.ring.Has(at) {
		h.strike(p)
		return dst
	}
	end := h.log.window(p)
	if g := p.datagrams; g != nil {
		if len(dst) == begin && at < end && !h.ending.Over && p.holds(h.now, end) {
			h.wake.at(p.hold(h.now))
			return dst
		}
		if len(dst) > begin || at < end {
			g.Release()
		}
	}
	dst, to := h.ring.AppendFrom(dst, at, end, limit-len(dst))
	if to == at && len(dst) == begin { // a record beyond the limit is sent alone
		dst, to = h.ring.AppendFrom(dst, at, end, protocol.MaxServerMessage)
	}
	p.stream.Sent(to)
	last := h.ring.Next()
	if h.c.Broken() {
		last = h.log.visible(p.reader()) // no other record will be persisted
	}
	if h.ending.Over && to == last && len(dst) <= limit {
		p.sentEnd = true
		h.peers.closeEnded(p, h.c.Err())
		dst = p.takePrivate(dst)
	}
	return dst
}

// makeViews makes the views that are due, once all of the match's records are durable.
func (h *Host) makeViews(now bool) {
	if h.views == nil || h.log.barrier.Persisted < h.ring.Next() || h.c.Broken() || !h.views.Begin(h.c.Now(), now || h.ending.Over) {
		return
	}
	sim := h.c.Referee().Simulation()
	for _, p := range h.peers.all {
		if p.view == nil || p.state != Live {
			continue
		}
		viewer := p.viewer
		if p.seat != lockstep.System {
			viewer = sim.ViewerOf(p.seat)
		}
		h.views.Follow(p.view, viewer)
	}
	h.views.Make(h.c.Now(), sim)
	for _, p := range h.peers.all {
		switch {
		case p.view == nil || p.state != Live:
		case p.view.Err() != nil:
			h.peers.refuse(p, protocol.ErrorRole, pack.Clip(p.view.Err().Error(), record.MaxNote), "")
		case p.view.Due(h.options.AckEvery):
			h.peers.mark(p)
		}
	}
	h.release()
}

// appendViews appends the next messages of views, and what a viewer gets of the records: notes, events, and the end of the match.
// Other clients learn changes of the seats from commands of System.
func (h *Host) appendViews(p *peer, dst []byte, begin, limit int) []byte {
	dst, open := h.views.Open(p.view, dst, &h.peers.writer, begin, limit)
	if !open {
		return dst
	}
	for i := range h.seats.table {
		if now, changed := p.view.Present(lockstep.Player(i), h.seats.table[i].shown); changed {
			dst = append(dst, record.Event(lockstep.Player(i), record.EventPresence, now)...)
		}
	}
	at := max(p.stream.Cursor, h.ring.First())
	for end := h.log.visible(p.reader()); at < end; at++ {
		raw := h.ring.Record(at)
		if kind := record.KindOf(raw); kind != record.KindNote && kind != record.KindEvent && kind != record.KindEnd {
			continue
		}
		if len(dst) > begin && len(dst)+len(raw) > limit {
			break
		}
		dst = append(dst, raw...)
	}
	p.stream.Pass(at)
	dst, begun, bytes := p.view.AppendDeltas(dst, &h.peers.writer, limit, h.options.AckEvery)
	h.stats.Views += uint64(begun)
	h.stats.ViewBytes += uint64(bytes)
	seen := h.c.Broken() || at == h.ring.Next() && p.view.Complete(h.c.Now()) // after a failure of the log no view follows
	if h.ending.Over && seen && len(dst) <= limit {
		p.sentEnd = true
		h.peers.closeEnded(p, h.c.Err())
		dst = p.takePrivate(dst)
	}
	return dst
}

// ofState reports whether only a client that simulates the match has what a message tells.
func ofState(k protocol.Kind) bool {
	return k == protocol.KindChecksum || k == protocol.KindState || k == protocol.KindResimulated || k == protocol.KindPhases || k == protocol.KindFlight ||
		k == protocol.KindAck || k == protocol.KindPanicked
}

// appendWait appends what the match waits for.
func (p *peer) appendWait(dst []byte, w *protocol.Writer, now lockstep.Time, of *pace.Pace) []byte {
	p.waitVersion = of.Version
	told := of.Told
	m := protocol.Message{Kind: protocol.KindHeld, Text: told.Reason, UntilMS: milliseconds(told.Until - now)}
	if told.Reason != "" {
		m.SinceMS = milliseconds(now - told.Since)
	}
	for _, seat := range told.Players {
		m.Seats = append(m.Seats, byte(seat))
	}
	return w.Append(dst, &m)
}

// milliseconds returns a time in milliseconds, 0 for a negative one.
func milliseconds(t lockstep.Time) uint32 { return uint32(min(max(t, 0).Milliseconds(), 1<<32-1)) }

// keyframeFor returns the latest keyframe that a peer may see, or nil. In relay mode it then asks clients for the latest state that can be
// verified, as many as may be asked now.
func (h *Host) keyframeFor(p *peer) *syncing.Keyframe {
	k := h.log.keyframe(h.now, h.seats.table, h.lobby)
	if more := h.log.donors.Wants(h.now, h.evidence.Asked()); k == nil && h.options.Relay && more > 0 {
		for _, q := range h.log.donors.Ask(h.now, more, h.log.offers(h.seats.table)) {
			h.evidence.Ask(h.now, &h.seats.table[q.Player].peer.witness, q.Tick)
		}
		h.settle()
	}
	return h.log.keyframes.For(k, h.log.shown(p.reader()), h.log.visible(p.reader()), h.ring.First())
}

// startSync starts to send a peer a keyframe instead of the records up to it, or a viewer the whole view.
func (h *Host) startSync(p *peer, why string) {
	h.stats.Syncs++
	if p.view != nil {
		h.out.event(Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
		if p.view.Begin() {
			at := h.log.next()
			p.out = append(p.out, h.seats.roster(h.log.talk, h.lobby, at)...)
			for i := range h.seats.table {
				p.view.Present(lockstep.Player(i), h.seats.table[i].shown)
			}
			p.stream.Pass(at)
		}
		p.state = Live
		p.stream.Reach(h.log.present(p.reader()))
		h.log.awaitState(p, false)
		h.out.event(Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
		h.makeViews(true)
		h.peers.mark(p)
		return
	}
	p.state = Syncing
	p.stream.Begin(h.now, h.pace.Period())
	if p.datagrams != nil {
		p.datagrams.Restart()
	}
	p.witness.Forget()
	h.log.awaitState(p, true)
	p.stream.Give(h.keyframeFor(p))
	h.wake.at(p.stream.Deadline)
	h.peers.mark(p)
	h.out.event(Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
}

// waitingTime gives a keyframe to the waiting peers.
func (h *Host) waitingTime() {
	for _, p := range h.peers.all {
		if !p.stream.Waits() {
			continue
		}
		if k := h.keyframeFor(p); k != nil {
			p.stream.Give(k)
			h.peers.mark(p)
		} else {
			h.wake.at(h.now + 100*lockstep.Millisecond)
		}
	}
}

// syncTime sends more of a peer's keyframe, and checks how far the peer is behind.
func (h *Host) syncTime(p *peer) {
	more, next := p.stream.More(h.now, h.pace.Period())
	if more {
		h.peers.mark(p)
	}
	h.wake.at(next)
	if p.state == Live {
		if p.stream.Behind(h.log.present(p.reader()), p.seat == lockstep.System) {
			h.strike(p)
		}
		return
	}
	k := p.stream.Keyframe
	switch {
	case h.now < p.stream.Deadline:
		h.wake.at(p.stream.Deadline)
	case p.stream.Confirmed():
		h.strike(p)
	case p.stream.Waits():
		h.peers.close(p, protocol.CloseTimeout, "no keyframe available")
	case k != nil && h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)) < protocol.MaxChunk:
		h.peers.close(p, protocol.CloseBusy, "keyframe limit reached")
	default:
		h.peers.close(p, protocol.CloseSlow, "the keyframe was not read in time")
	}
}

// strike sends a keyframe to a peer that is too far behind, and closes one that has had MaxStrikes of them.
func (h *Host) strike(p *peer) {
	if !p.stream.Strike(h.now) {
		h.peers.close(p, protocol.CloseSlow, "too far behind")
		return
	}
	h.startSync(p, "too far behind")
	p.stream.Hurry(h.now, h.pace.Period())
}

// ack takes a client's progress.
func (h *Host) ack(p *peer, m *protocol.Message) {
	if m.Position > p.stream.High || m.Tick > h.c.Now() {
		h.peers.malformed(p, "an ack of what was not sent")
		return
	}
	if p.stream.Outdated(m.Position) {
		return
	}
	if g := p.datagrams; g != nil && g.Ahead(m.Position) && g.Flows(h.now, p.link.RTT) {
		return // a datagram has said more
	}
	p.stream.Ack(h.now, m.Position, m.Tick)
	if p.state == CatchingUp && p.stream.Near(h.log.present(p.reader())) {
		p.state = Live
		p.link.Live()
		h.log.awaitState(p, false)
		h.out.event(Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
	}
	if p.stream.Cursor < h.log.window(p) {
		h.peers.mark(p)
	}
}
