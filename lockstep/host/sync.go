package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A keyframe is a state in the form that a joiner gets: the header record, a keyframe record, and the notes and events of the roster.
// It is encoded once, and shared by all peers that join until the next one.
type keyframe struct {
	bytes    []byte
	tick     lockstep.Tick
	position protocol.Position // of the first record after it
	made     lockstep.Time
}

// joins holds the state of making keyframes.
type joins struct {
	enc   record.Encoder
	state []byte
	last  []record.LastSequence

	// Relay mode: requests for a state.
	asked int           // requests so far
	askAt lockstep.Time // when other clients are asked, too
}

// encode returns the keyframe of a state.
func (j *joins) encode(header []byte, t lockstep.Tick, hash uint64, last []record.LastSequence, state, roster []byte) []byte {
	j.enc.BeginKeyframe()
	return slices.Concat(header, j.enc.Keyframe(t, hash, last, state), roster)
}

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

// keyframe returns a keyframe to join with, or nil if there is none yet. It returns the latest one while that is young
// enough. Otherwise it makes a new one, at most one per interval; in relay mode it asks a client for one.
func (h *Host) keyframe() *keyframe {
	k := h.shared
	young := h.now < k.made+h.options.KeyframeInterval
	switch {
	case h.ring.Has(k.position) && (h.options.Relay || young):
		return k
	case h.options.Relay:
		h.seekState()
		return nil
	case young && h.stats.SyncKeyframes > 0:
		return nil
	}
	sim := h.c.Referee().Simulation()
	j := &h.joins
	j.state = sim.AppendState(j.state[:0])
	j.last = h.c.AppendLast(j.last[:0])
	at := h.afterTick()
	h.shared = &keyframe{
		bytes: j.encode(h.headerRecord, sim.Tick(), sim.Hash(), j.last, j.state, h.roster(at)),
		tick:  sim.Tick(), position: at, made: h.now,
	}
	h.stats.SyncKeyframes++
	return h.shared
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
func (h *Host) give(p *peer, k *keyframe) {
	if p.sync = k; k != nil {
		p.deadline += lockstep.Second * lockstep.Time(len(k.bytes)>>20)
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
	for p.syncAt < len(k.bytes) {
		n := min(protocol.MaxChunk, len(k.bytes)-p.syncAt, p.syncRoom, h.budget.KeyframeRoom(h.now, &p.tab, len(k.bytes)))
		if n <= 0 || len(dst)+n+chunkOverhead > limit {
			return dst
		}
		h.message = protocol.Message{
			Kind: protocol.KindStateSync, Position: k.position, Tick: k.tick,
			Offset: uint32(p.syncAt), Total: uint32(len(k.bytes)), Bytes: k.bytes[p.syncAt : p.syncAt+n],
		}
		dst = h.writer.Append(dst, &h.message)
		p.syncAt += n
		h.stats.SyncBytes += uint64(n)
		p.syncRoom -= n
		h.budget.TakeKeyframe(h.now, &p.tab, n, len(k.bytes))
	}
	p.sync, p.state = nil, CatchingUp
	p.cursor, p.acked, p.tick, p.began = k.position, k.position, k.tick, k.tick
	p.high = max(p.high, k.position)
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
	case p.sync != nil && h.budget.KeyframeRoom(h.now, &p.tab, len(p.sync.bytes)) < protocol.MaxChunk:
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
	return len(p.sync.bytes)
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
	if g := p.datagrams; g != nil && g.Ahead(m.Position) && g.Flows(h.now, p.rtt) {
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
			p.pinged = p.pinged && p.measurements > 0 // its answer says how busy the client was
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
