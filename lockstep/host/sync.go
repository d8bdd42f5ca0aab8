package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// keyframeFor returns the latest keyframe that a peer may see, or nil.
func (h *Host) keyframeFor(p *peer) *syncing.Keyframe {
	k := h.log.keyframe(h.now, h.seats, h.lobby)
	if k == nil && h.options.Relay {
		h.seekState()
	}
	return h.log.keyframes.For(k, h.log.shown(p.reader()), h.log.visible(p.reader()), h.ring.First())
}

// seekState asks clients for the latest state that can be verified, as many as may be asked now: live players who reported the agreed checksum of
// a check and are not being asked.
func (h *Host) seekState() {
	more := h.donors.Wants(h.now, h.evidence.Asked())
	if more == 0 {
		return
	}
	var all []syncing.Offer
	for _, t := range h.donors.Moments(h.c.Now(), h.ring.First()) {
		k, ok := h.c.Check(t)
		if !ok || k.Status != coordinator.CheckAgreed {
			continue
		}
		offer := syncing.Offer{Tick: t}
		for i := range h.seats {
			if p := h.seats[i].peer; p == nil || p.witness.Busy() || p.state != Live {
				continue
			}
			if hash, ok := h.c.Reported(t, lockstep.Player(i)); ok && hash == k.Hash {
				offer.Players = append(offer.Players, lockstep.Player(i))
			}
		}
		all = append(all, offer)
	}
	for _, q := range h.donors.Ask(h.now, more, all) {
		h.evidence.Ask(h.now, &h.seats[q.Player].peer.witness, q.Tick)
	}
	h.settle()
}

// awaitState tells the coordinator that a player lacks a state, or has one again. In relay mode no check waits for a
// player without a state.
func (h *Host) awaitState(p *peer, awaits bool) {
	if h.options.Relay && p.seat != lockstep.System {
		_ = h.c.AwaitState(p.seat, awaits) // an error ends the match; Advance handles that
		h.takeDesyncs()
	}
}

// startSync begins to send a peer a keyframe in place of the records up to it, or a viewer the whole view.
func (h *Host) startSync(p *peer, why string) {
	h.stats.Syncs++
	if p.view != nil {
		h.made.event(h.log.now(), Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
		if p.view.Begin() {
			at := h.log.next()
			p.out = append(p.out, h.seats.roster(h.log.talk, h.lobby, at)...)
			for i := range h.seats {
				p.view.Present(lockstep.Player(i), h.seats[i].shown)
			}
			p.stream.Pass(at)
		}
		p.state = Live
		p.stream.Reach(h.log.present(p.reader()))
		h.awaitState(p, false)
		h.made.event(h.log.now(), Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
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
	h.awaitState(p, true)
	p.stream.Give(h.keyframeFor(p))
	h.wake.at(p.stream.Deadline())
	h.peers.mark(p)
	h.made.event(h.log.now(), Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
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
	k := p.stream.Keyframe()
	switch {
	case h.now < p.stream.Deadline():
		h.wake.at(p.stream.Deadline())
	case p.stream.Confirmed():
		h.strike(p)
	case p.stream.Waits():
		h.close(p, protocol.CloseTimeout, "no keyframe available")
	case k != nil && h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)) < protocol.MaxChunk:
		h.close(p, protocol.CloseBusy, "too many keyframes were sent")
	default:
		h.close(p, protocol.CloseSlow, "the keyframe was not read in time")
	}
}

// strike sends a keyframe to a peer that is too far behind, and closes one that has had MaxStrikes of them.
func (h *Host) strike(p *peer) {
	if !p.stream.Strike(h.now) {
		h.close(p, protocol.CloseSlow, "too far behind")
		return
	}
	h.startSync(p, "too far behind")
	p.stream.Hurry(h.now, h.pace.Period())
}

// ack takes a client's progress.
func (h *Host) ack(p *peer, m *protocol.Message) {
	if m.Position > p.stream.High() || m.Tick > h.c.Now() {
		h.malformed(p, "an ack of what was not sent")
		return
	}
	if p.stream.Outdated(m.Position) {
		return
	}
	if g := p.datagrams; g != nil && g.Ahead(m.Position) && g.Flows(h.now, p.link.RTT()) {
		return // a datagram has said more
	}
	p.stream.Ack(h.now, m.Position, m.Tick)
	if p.state == CatchingUp && p.stream.Near(h.log.present(p.reader())) {
		p.state = Live
		p.link.Live()
		h.awaitState(p, false)
		h.made.event(h.log.now(), Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
	}
	if p.stream.Cursor() < h.log.window(p) {
		h.peers.mark(p)
	}
}

// reader returns for whom a peer reads the match.
func (p *peer) reader() disclosure.Reader {
	if p.seat == lockstep.System {
		return disclosure.Spectator
	}
	return disclosure.Player
}
