package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// roster returns notes and events that tell a joiner what the log has told the others: who has the seats, and what was said last
// before a position.
func (h *Host) roster(before protocol.Position) (notes []byte) {
	for i := range h.seats {
		s, p := &h.seats[i], lockstep.Player(i)
		if name := h.talk.Named(p); name != "" { // of a vacant seat, too: its next player may have the same name, and no note says it again
			notes = append(notes, record.Note(p, record.TopicName, name)...)
		}
		if s.shown == "" || s.shown == record.PresenceVacant {
			continue
		}
		notes = append(notes, record.Event(p, record.EventPresence, s.shown)...)
		if h.lobby.Ready(p) {
			notes = append(notes, record.Note(p, record.TopicReady, record.ReadyYes)...)
		}
	}
	for _, l := range h.talk.Lines(before) {
		notes = append(notes, record.Note(l.Player, record.TopicChat, l.Text)...)
	}
	return notes
}

// keyframe returns the latest keyframe if it is young enough, or else makes one, at most one per interval, and returns nil if there is none yet. In
// relay mode it asks a client for one.
func (h *Host) keyframe() *syncing.Keyframe {
	k, due := h.keyframes.Latest(h.now, h.ring.First())
	if k == nil && h.options.Relay {
		h.seekState()
	}
	if !due {
		return k
	}
	at := h.afterTick()
	h.last = h.c.AppendLast(h.last[:0])
	return h.keyframes.Make(h.now, h.c.Referee().Simulation(), &syncing.State{Header: h.headerRecord, Last: h.last, Roster: h.roster(at), Position: at})
}

// keyframeFor returns the latest keyframe that a peer may see, or nil.
func (h *Host) keyframeFor(p *peer) *syncing.Keyframe {
	return h.keyframes.For(h.keyframe(), h.shown(p), h.visible(p), h.ring.First())
}

// seekState asks clients for the latest state that can be verified, as many as may be asked now.
func (h *Host) seekState() {
	for more := h.donors.Wants(h.now, h.evidence.Asked()); more > 0 && h.askState(); more-- {
	}
}

// askState asks one more client for a state, if there is a live player who reported the agreed checksum of a check and is not
// being asked.
func (h *Host) askState() bool {
	for _, t := range h.donors.Moments(h.c.Now(), h.ring.First()) {
		k, ok := h.c.Check(t)
		if !ok || k.Status != coordinator.CheckAgreed {
			continue
		}
		var able []lockstep.Player
		for i := range h.seats {
			if p := h.seats[i].peer; p == nil || p.witness.Busy() || p.state != Live {
				continue
			}
			if hash, ok := h.c.Reported(t, lockstep.Player(i)); ok && hash == k.Hash {
				able = append(able, lockstep.Player(i))
			}
		}
		if player, ok := h.donors.Ask(h.now, able); ok {
			h.evidence.Ask(h.now, &h.seats[player].peer.witness, t)
			h.settle()
			return true
		}
	}
	return false
}

// awaitState tells the coordinator that a player lacks a state, or has one again. In relay mode no check waits for a
// player without a state.
func (h *Host) awaitState(p *peer, awaits bool) {
	if h.options.Relay && p.seat != lockstep.System {
		_ = h.c.AwaitState(p.seat, awaits) // an error ends the match; Advance handles that
		h.takeDesyncs()
	}
}

// afterTick returns the position of the next record, or of the end that the rules have decided: a joiner gets it, too.
func (h *Host) afterTick() protocol.Position {
	next := h.ring.Next()
	if _, byRules := h.c.Result(); byRules {
		next--
	}
	return next
}

// startSync begins to send a peer a keyframe in place of the records up to it.
func (h *Host) startSync(p *peer, why string) {
	h.stats.Syncs++
	if p.view != nil {
		h.event(Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
		h.startView(p)
		return
	}
	p.state, p.syncAt, p.confirmed = Syncing, 0, false
	if p.datagrams != nil {
		p.datagrams.Restart()
	}
	p.witness.Forget()
	h.awaitState(p, true)
	p.syncRoom, p.syncMore = h.options.SyncBytesPerTick, h.now+h.pace.Period()
	p.deadline = h.now + h.options.SyncTimeout
	h.give(p, h.keyframeFor(p))
	h.wakeAt(p.deadline)
	h.mark(p)
	h.event(Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
}

// give begins to send a keyframe to a waiting peer. With nil the peer keeps waiting.
func (h *Host) give(p *peer, k *syncing.Keyframe) {
	if p.sync = k; k != nil {
		p.deadline += lockstep.Second * lockstep.Time(len(k.Bytes)>>20)
		h.mark(p)
	}
}

// waitingTime gives a keyframe to the waiting peers.
func (h *Host) waitingTime() {
	for _, p := range h.peers {
		if p.state != Syncing || p.sync != nil {
			continue
		}
		k := h.keyframeFor(p)
		if k == nil {
			h.wakeAt(h.now + 100*lockstep.Millisecond)
		}
		h.give(p, k)
	}
}

// syncRequest sends a peer a keyframe at its request.
func (h *Host) syncRequest(p *peer) {
	if p.state == Syncing {
		return // one is being sent already
	}
	if !h.budget.Take(h.now, &p.tab, budget.Syncs, 1) {
		h.offend(p, protocol.ErrorLimit, "too many keyframes asked for")
		return
	}
	h.startSync(p, "asked for")
}

// appendSync appends the next chunks of a keyframe.
func (h *Host) appendSync(p *peer, dst []byte, limit int) []byte {
	k := p.sync
	for p.syncAt < len(k.Bytes) {
		n := min(protocol.MaxChunk, len(k.Bytes)-p.syncAt, p.syncRoom, h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)))
		if n <= 0 || len(dst)+n+chunkOverhead > limit {
			return dst
		}
		h.message = protocol.Message{
			Kind: protocol.KindStateSync, Position: k.Position, Tick: k.Tick,
			Offset: uint32(p.syncAt), Total: uint32(len(k.Bytes)), Bytes: k.Bytes[p.syncAt : p.syncAt+n],
		}
		dst = h.writer.Append(dst, &h.message)
		p.syncAt += n
		h.stats.SyncBytes += uint64(n)
		p.syncRoom -= n
		h.budget.TakeKeyframe(h.now, &p.tab, n, len(k.Bytes))
	}
	p.sync, p.state = nil, CatchingUp
	p.cursor, p.acked, p.tick, p.began = k.Position, k.Position, k.Tick, k.Tick
	p.high = max(p.high, k.Position)
	return dst
}

// syncTime allows a peer another SyncBytesPerTick of its keyframe once per tick period, even while no ticks are sealed.
func (h *Host) syncTime(p *peer) {
	if p.state != Syncing || p.sync == nil {
		return
	}
	if h.now >= p.syncMore {
		p.syncRoom, p.syncMore = h.options.SyncBytesPerTick, h.now+h.pace.Period()
		h.mark(p)
	}
	h.wakeAt(p.syncMore)
}

// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
const chunkOverhead = 32

// lagTime checks how far a peer is behind.
func (h *Host) lagTime(p *peer) {
	if p.state == Live {
		if h.lag(p) > h.allowed(p) {
			h.strike(p)
		}
		return
	}
	if h.now < p.deadline {
		h.wakeAt(p.deadline)
		return
	}
	switch {
	case p.state == CatchingUp && p.confirmed:
		h.strike(p)
	case p.sync == nil && p.state == Syncing:
		h.close(p, protocol.CloseTimeout, "no keyframe available")
	case p.sync != nil && h.budget.KeyframeRoom(h.now, &p.tab, len(p.sync.Bytes)) < protocol.MaxChunk:
		h.close(p, protocol.CloseBusy, "too many keyframes were sent")
	default:
		h.close(p, protocol.CloseSlow, "the keyframe was not read in time")
	}
}

// allowed returns how many ticks a peer may be behind.
func (h *Host) allowed(p *peer) lockstep.Tick {
	if p.seat == lockstep.System {
		return h.options.Lag / 2
	}
	return h.options.Lag
}

// lag returns how many ticks a peer is behind.
func (h *Host) lag(p *peer) lockstep.Tick { return h.present(p) - min(p.tick, h.present(p)) }

// strike sends a keyframe to a peer that is too far behind, and closes one that has had MaxStrikes of them. Ten minutes
// without a strike forgive one.
func (h *Host) strike(p *peer) {
	for p.strikes > 0 && h.now-p.struckAt > 600*lockstep.Second {
		p.strikes--
		p.struckAt += 600 * lockstep.Second
	}
	if p.strikes >= h.options.MaxStrikes {
		h.close(p, protocol.CloseSlow, "too far behind")
		return
	}
	p.strikes++
	p.struckAt = h.now
	h.startSync(p, "too far behind")
	p.deadline = min(p.deadline, h.now+lockstep.Time(h.options.Lag)*h.pace.Period()+lockstep.Second*lockstep.Time(1+h.syncSize(p)>>20))
}

func (h *Host) syncSize(p *peer) int {
	if p.sync == nil {
		return 0
	}
	return len(p.sync.Bytes)
}

// ack takes a client's progress.
func (h *Host) ack(p *peer, m *protocol.Message) {
	if m.Position > p.high || m.Tick > h.c.Now() {
		h.malformed(p, "an ack of what was not sent")
		return
	}
	if p.state == Syncing || m.Position < p.acked {
		return // from before a keyframe
	}
	if g := p.datagrams; g != nil && g.Ahead(m.Position) && g.Flows(h.now, p.link.RTT()) {
		return // a datagram has said more
	}
	p.acked = min(m.Position, p.cursor)
	p.tick = m.Tick
	if p.state == CatchingUp {
		if !p.confirmed {
			p.confirmed = true
			p.deadline = h.now + h.options.SyncTimeout
		}
		if h.lag(p) <= h.near() {
			p.state = Live
			p.link.Live()
			h.awaitState(p, false)
			h.event(Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
		}
	}
	if p.cursor < h.window(p) {
		h.mark(p)
	}
}

// near returns how many ticks a live peer may be behind the last one.
func (h *Host) near() lockstep.Tick { return max(2*h.options.AckEvery, h.options.Lag/4) }

// visible returns the position of the first record that a peer may not see.
func (h *Host) visible(p *peer) protocol.Position {
	return h.barrier.Visible(h.disclosed.Late(p.reader(), h.LogEnded()), h.ring.Next())
}

// shown returns the position of the first record that a peer may not see even if it is persisted.
func (h *Host) shown(p *peer) protocol.Position {
	return h.barrier.Shown(h.disclosed.Late(p.reader(), h.LogEnded()), h.ring.Next())
}

// LogEnded reports whether the log has its last record. A log that failed, or that a shutdown left, has none: the match
// may continue from it, and hides what its [disclosure.Policy] hides.
func (h *Host) LogEnded() bool { return h.c.Err() != nil && !h.c.Broken() }

// present returns the last sealed tick that a peer may know of.
func (h *Host) present(p *peer) lockstep.Tick {
	return h.disclosed.Shown(p.reader(), h.Now(), h.LogEnded())
}

// reader returns for whom a peer reads the match.
func (p *peer) reader() disclosure.Reader {
	if p.seat == lockstep.System {
		return disclosure.Spectator
	}
	return disclosure.Player
}
