package audience

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Receive takes one WebSocket message of a connection: one or more messages of the protocol. A bad message affects only its
// sender. The Audience does not keep the bytes.
func (a *Audience) Receive(now lockstep.Time, id host.PeerID, b []byte) {
	a.at(now)
	p := a.byID[id]
	if p == nil || p.state == host.Closed {
		return
	}
	p.heard = a.now
	a.stats.BytesIn += uint64(len(b))
	limit := protocol.MaxClientMessage
	if p.state == host.Connecting {
		limit = protocol.MaxAuthMessage
	}
	if len(b) > limit || len(b) == 0 {
		a.malformed(p, "message size")
		return
	}
	within := p.bytes.Take(a.now, a.options.Rates.Bytes, len(b))
	m := &a.received
	for len(b) > 0 && p.state != host.Closed {
		rest, err := a.reader.Read(m, b)
		if err != nil {
			a.malformed(p, err.Error())
			return
		}
		b = rest
		within = p.messages.Take(a.now, a.options.Rates.Messages, 1) && within
		switch {
		case p.state == host.Connecting && p.auth == nil && m.Kind == protocol.KindAuth:
			p.auth = m.Auth
			a.admit(p)
		case p.state == host.Connecting && p.auth == nil:
			a.malformed(p, "the first message is not auth")
		case p.state == host.Connecting && (!within || m.Kind == protocol.KindAuth):
			a.malformed(p, "a second auth, or too many messages before the welcome")
		case p.state == host.Connecting: // it cannot know yet that it is not welcome
		default:
			a.handle(p, m, within)
		}
	}
}

// admit welcomes a connection that has sent auth. Before the first Sync it waits.
func (a *Audience) admit(p *peer) {
	if a.header == nil {
		return
	}
	auth := p.auth
	p.auth = nil
	p.platform, _ = record.SplitPlatform(auth.Platform)
	want := *a.auth
	want.SelfTest.Game = auth.SelfTest.Game // no header has it, and a spectator harms only itself
	if err := auth.CheckIdentity(&want); err != nil {
		var e *lockstep.IdentityError
		errors.As(err, &e)
		a.error(p, protocol.ErrorIdentity, e.Error(), e.Field)
		a.close(p, protocol.CloseRefused, "identity", 0)
		return
	}
	switch {
	case a.ended && a.now >= a.endedAt+a.options.Linger:
		a.close(p, protocol.CloseEnded, "the match has ended", 0)
		return
	case !a.authorized(auth.Token):
		a.error(p, protocol.ErrorRefused, "refused", "")
		a.close(p, protocol.CloseRefused, "refused", 0)
		return
	case a.spectators() >= a.options.MaxSpectators:
		a.error(p, protocol.ErrorFull, "no place is free", "")
		a.close(p, protocol.CloseRefused, "no place is free", 0)
		return
	}
	if wait := a.untilSeen(); wait > a.options.SyncTimeout/2 { // longer than a client may wait for a state
		a.close(p, protocol.CloseBusy, "the match can be seen after its delay", uint32(wait.Milliseconds())+1000)
		return
	}
	a.welcome(p)
}

func (a *Audience) authorized(token string) bool {
	if a.options.Authorize == nil {
		return true
	}
	//samestep:allow unseen decides about joins, and never reaches a simulation
	return a.options.Authorize(token) == nil
}

// admitWaiting welcomes the connections that sent auth before the match was known.
func (a *Audience) admitWaiting() {
	for _, p := range a.peers {
		if p.state == host.Connecting && p.auth != nil {
			a.admit(p)
		}
	}
}

func (a *Audience) welcome(p *peer) {
	p.tick = a.Now()
	p.told = a.hold.version - 1
	if a.hold.reason == "" {
		p.told = a.hold.version
	}
	w := protocol.Welcome{
		Seat: lockstep.System, Role: protocol.Spectator, Tick: a.Now(), Position: max(a.sent, 1), AckEvery: uint16(a.options.AckEvery), InputDelay: a.delay, SpeedPercent: a.speed,
	}
	a.message = protocol.Message{Kind: protocol.KindWelcome, Welcome: &w}
	a.private(p, &a.message)
	a.stats.Welcomes++
	a.welcomed = append(a.welcomed, p.id)
	a.startSync(p)
}

// handle takes one message of a welcomed peer.
func (a *Audience) handle(p *peer, m *protocol.Message, within bool) {
	switch {
	case m.Kind == protocol.KindAck:
		a.ack(p, m)
		if !within {
			a.offend(p, 0, "")
		}
		return
	case !within:
		a.offend(p, protocol.ErrorLimit, "too many messages or bytes")
		return
	}
	switch m.Kind {
	case protocol.KindChecksum:
		a.report(p, m)
	case protocol.KindStateSyncRequest:
		if p.state == host.Syncing {
			return // one is being sent already
		}
		if !p.syncs.Take(a.now, a.options.Rates.Syncs, 1) {
			a.offend(p, protocol.ErrorLimit, "too many keyframes asked for")
			return
		}
		a.startSync(p)
	case protocol.KindPing:
		a.message = protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: a.Now()}
		a.private(p, &a.message)
	case protocol.KindPong:
		p.pinged = p.pinged && m.Nonce != p.nonce
	case protocol.KindCommand, protocol.KindChat, protocol.KindReady, protocol.KindState:
		a.offend(p, protocol.ErrorRole, "this is a mirror, for watching only")
	case protocol.KindLeave:
		a.close(p, protocol.CloseLeft, "left", 0)
	default:
		a.malformed(p, "a message that only a server sends, or a second auth")
	}
}

// ack takes a client's progress.
func (a *Audience) ack(p *peer, m *protocol.Message) {
	switch {
	case m.Position > p.high:
		a.malformed(p, "an ack of what was not sent")
		return
	case m.Tick > a.highest && p.state != host.Syncing: // it has seen more elsewhere
		a.close(p, protocol.CloseBusy, "this mirror is behind what you have seen", 1000)
		return
	}
	if p.state == host.Syncing || m.Position < p.acked {
		return // from before a keyframe
	}
	p.acked = min(m.Position, p.cursor)
	p.tick = m.Tick
	if p.state == host.CatchingUp {
		if !p.confirmed {
			p.confirmed = true
			p.deadline = a.now + a.options.SyncTimeout
		}
		if a.lag(p) <= max(2*a.options.AckEvery, a.options.Lag/2) {
			a.become(p, host.Live)
		}
	}
	if p.cursor < a.window(p) || a.atCut(p) {
		a.mark(p)
	}
}

// report compares a checksum with the agreed one in the log, if the log has that already.
func (a *Audience) report(p *peer, m *protocol.Message) {
	if m.Tick == 0 || m.Tick%lockstep.Tick(a.header.Settings.CheckEvery) != 0 {
		a.offend(p, protocol.ErrorReport, "not a recent checked tick")
		return
	}
	hash, known := a.checks.find(m.Tick)
	if !known || m.Tick <= p.reported { // it may have seen more elsewhere, which is not its fault
		return
	}
	p.reported = m.Tick
	if hash == m.Hash {
		p.agreed = m.Tick
		return
	}
	a.stats.Desyncs++
	a.desynced = append(a.desynced, Desync{p.id, m.Tick, p.platform})
	a.message = protocol.Message{Kind: protocol.KindDesyncReport, Tick: m.Tick, Player: lockstep.System, Agreed: min(p.agreed, m.Tick-1)}
	a.private(p, &a.message)
	if p.streams() && p.resyncs.Take(a.now, a.options.Rates.Resyncs, 1) {
		p.reported = 0
		a.startSync(p)
	}
}
