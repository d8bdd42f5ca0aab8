package audience

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// timerEvery is the time between two runs of all timers: with thousands of peers some timer is always due.
	timerEvery = 100 * lockstep.Millisecond

	// stall is the lateness of Advance from which on the lost time is added to all timers.
	stall = lockstep.Second / 2
)

// Advance delivers records that a Batch has held back, and runs the timers: it closes silent and slow connections, sends pings and
// keyframes. A stall of the program does not count as a peer's silence.
func (a *Audience) Advance(now lockstep.Time) {
	a.at(now)
	if late := a.now - a.wake; late > stall && a.wake > 0 {
		for _, p := range a.peers {
			p.heard = min(p.heard+late, a.now)
			p.deadline += late
		}
	}
	a.wake = never
	a.deliver()
	if next := a.timedAt + timerEvery; a.now < next && a.timedAt > 0 {
		if len(a.peers) > 0 {
			a.wakeAt(next)
		}
		return
	}
	a.timedAt = max(a.now, 1)
	a.provide()
	over := a.ended && a.now >= a.endedAt+a.options.Linger
	for _, p := range a.peers {
		switch {
		case p.state == host.Closed:
		case over:
			a.close(p, protocol.CloseEnded, "the match has ended", 0)
		default:
			a.peerTime(p)
		}
	}
	if len(a.peers) > 0 {
		a.wakeAt(a.now + timerEvery)
	}
	if a.ended && !over {
		a.wakeAt(a.endedAt + a.options.Linger)
	}
}

// peerTime runs the timers of one peer.
func (a *Audience) peerTime(p *peer) {
	if p.state == host.Connecting {
		switch {
		case a.now < p.deadline:
		case p.auth != nil:
			a.close(p, protocol.CloseBusy, "the mirror does not know the match yet", 2000)
		default:
			a.close(p, protocol.CloseTimeout, "no auth in time", 1000)
		}
		return
	}
	silent := a.now - p.heard
	if silent >= a.options.IdleTimeout {
		a.close(p, protocol.CloseTimeout, "nothing was heard", 1000)
		return
	}
	if silent >= a.options.PingEvery && !p.pinged {
		p.pinged = true
		p.nonce++
		a.message = protocol.Message{Kind: protocol.KindPing, Nonce: p.nonce}
		a.private(p, &a.message)
	} else if silent < a.options.PingEvery {
		p.pinged = false
	}
	if p.state == host.Syncing && p.sync != nil && a.now >= p.syncMore {
		p.syncRoom, p.syncMore = a.options.SyncBytesPerTick, a.now+a.period()
		a.mark(p)
	}
	a.lagTime(p)
}

// lagTime checks how far a peer is behind.
func (a *Audience) lagTime(p *peer) {
	if p.state == host.Live {
		if a.lag(p) > a.options.Lag && a.lag(p) > 2*a.options.AckEvery {
			a.strike(p)
		}
		return
	}
	if a.now < p.deadline {
		return
	}
	switch {
	case p.state == host.CatchingUp && p.confirmed:
		a.strike(p)
	case p.state == host.Syncing && p.sync == nil:
		a.close(p, protocol.CloseBusy, "no keyframe available", uint32(min(max(a.untilSeen(), lockstep.Second), 3600*lockstep.Second).Milliseconds()))
	case p.sync != nil && a.keyframeRoom(p, len(p.sync.Bytes)) < protocol.MaxChunk:
		a.close(p, protocol.CloseBusy, "keyframe limit reached", 1000)
	default:
		a.close(p, protocol.CloseSlow, "the keyframe was not read in time", 1000)
	}
}
