package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// due returns when Advance is due next.
func (h *Host) due() lockstep.Time {
	if h.ending.Over() {
		return h.wake
	}
	if !h.pace.Running() {
		return h.now
	}
	return min(h.wake, h.pace.Due())
}

// wakeAt makes Advance due at a time, or earlier.
func (h *Host) wakeAt(t lockstep.Time) { h.wake = min(h.wake, t) }

// Advance seals the ticks that are due and runs the timers: it closes silent and slow connections, gives up on lost
// players, sends pings, and follows the policies. The first call starts the match's clock. After a stall Advance seals
// at most MaxCatchUp ticks and skips the others: the match stays late instead of hurrying. A stall does not count as a
// peer's silence.
func (h *Host) Advance(now lockstep.Time) {
	h.now = max(h.now, now)
	h.pace.Start(h.now)
	if late := h.now - h.due(); late > stall {
		h.forgive(late)
	}
	for range h.options.MaxCatchUp {
		if h.ending.Over() || h.c.Err() != nil || h.pace.Due() > h.now || !h.ready() {
			break
		}
		h.tick()
	}
	if !h.ending.Over() && h.c.Err() == nil && h.pace.Due() <= h.now {
		if late := h.pace.Skip(h.now); late > 0 {
			h.stats.Skipped += uint64(late)
			h.event(Event{Kind: TicksSkipped, Player: lockstep.System, Number: late})
		}
	}
	h.logSeats()
	h.tellSeats()
	if h.c.Err() != nil && !h.ending.Over() {
		h.finish()
	}
	h.keepTime()
	h.tellWait()
}

// stall is the lateness of Advance from which on the lost time is added to all timers.
const stall = lockstep.Second / 2

// forgive adds the time of a stall to all timers. The program or its machine did not run, so messages that arrived
// meanwhile were not read.
func (h *Host) forgive(late lockstep.Time) {
	for _, p := range h.peers.all {
		p.link.Forgive(h.now, late)
		p.stream.Forgive(late)
	}
	for i := range h.seats {
		h.seats[i].lostAt = min(h.seats[i].lostAt+late, h.now)
	}
	h.pace.Forgive(h.now, late)
	h.ending.Forgive(h.now, late)
	h.lobby.Forgive(h.now, late)
	h.evidence.Forgive(late)
}

// tick seals one tick.
func (h *Host) tick() {
	h.pace.Tick()
	h.logSeats()
	f, err := h.c.Tick()
	h.takeDesyncs()
	if err != nil || f == nil {
		return
	}
	h.stats.Ticks++
	h.stats.Commands += uint64(len(f.Commands))
	h.seats.tickTold()
	h.sealed(f.Tick)
	h.runBots()
	h.countIdle()
}

// sealed tells what a tick that was just sealed shows to late spectators, and to joiners.
func (h *Host) sealed(t lockstep.Tick) {
	if h.options.Relay {
		h.last = h.c.AppendLast(h.last[:0])
		h.donors.Remember(t, h.ring.Next(), h.last)
	}
	delay := h.log.policy.Delay
	if delay == 0 {
		return
	}
	h.log.barrier.Seal(t, h.ring.Next())
	if k, ok := h.c.Check(t); ok {
		h.checks.Show(k)
	}
	h.checkSeen(t)
	if t%((delay+3)/4) == 0 {
		if k := h.keyframe(); k != nil {
			h.keyframes.Keep(k, h.log.barrier.Hidden(t))
		}
	}
}

// finish handles the end of the match. Peers that are behind may read on until closesAt.
func (h *Host) finish() {
	result, byRules := h.c.Result()
	h.ending.Finish(h.now, byRules)
	h.evidence.Finish()
	h.settle()
	h.crashed()
	h.event(Event{Kind: MatchOver, Player: lockstep.System, Text: h.ending.Reason(h.c.Err(), byRules), ByRules: byRules, Result: h.header.ResultJSON(result)})
	for _, p := range h.peers.all {
		h.peers.mark(p)
		if p.state == Connecting && !h.lingers() {
			h.closeEnded(p)
		}
	}
	h.wakeAt(h.closesAt())
}

// closeEnded ends a connection because the match is over.
func (h *Host) closeEnded(p *peer) {
	code, text := h.ending.Closing(h.c.Err())
	h.close(p, code, text)
}

// closesAt returns the time at which the connections of a match that is over are closed.
func (h *Host) closesAt() lockstep.Time {
	_, unseen := h.seats.people()
	return h.ending.ClosesAt(unseen == 0)
}

// lingers reports whether the rules have ended the match and players may still connect to see its end.
func (h *Host) lingers() bool {
	_, unseen := h.seats.people()
	return h.ending.Lingers(h.now, unseen == 0)
}

const allLeft = "all players have left"

// keepTime runs every timer, and finds the earliest of the remaining ones.
func (h *Host) keepTime() {
	h.wake = never
	for _, p := range h.peers.all {
		if p.state != Closed {
			h.peerTime(p)
		}
	}
	if !h.ending.Over() {
		for i := range h.seats {
			h.seatTime(lockstep.Player(i))
		}
		h.noteTime()
		h.evidence.Advance(h.now)
		h.settle()
		h.waitingTime()
		h.paceTime()
		seated, _ := h.seats.people()
		if ends, at := h.ending.Abandoned(h.now, seated == 0); ends {
			_ = h.Admin().End(h.now, allLeft) // the match goes on, so it can end
		} else {
			h.wakeAt(at)
		}
		due, wake := h.views.Due(h.now)
		if h.wakeAt(wake); due {
			h.makeViews(false)
		}
	} else if h.lingers() {
		h.waitingTime()
		h.wakeAt(h.closesAt())
	}
}

// peerTime runs the timers of one peer.
func (h *Host) peerTime(p *peer) {
	if h.ending.Over() && h.now >= h.closesAt() {
		h.closeEnded(p)
		return
	}
	if p.state == Connecting {
		if h.now >= p.stream.Deadline() {
			h.close(p, protocol.CloseTimeout, "no auth in time")
			return
		}
		h.wakeAt(p.stream.Deadline())
		return
	}
	if p.link.Silent(h.now, h.options.IdleTimeout) {
		h.close(p, protocol.CloseTimeout, "nothing was heard")
		return
	}
	if p.link.Due(h.now) {
		h.message = protocol.Message{Kind: protocol.KindPing, Nonce: p.link.Ping(h.now, h.options.PingEvery, uint64(p.id))}
		h.private(p, &h.message)
	}
	h.wakeAt(p.link.Next(h.options.IdleTimeout))
	h.datagramTime(p)
	h.syncTime(p)
	if h.ending.Over() {
		h.wakeAt(h.closesAt())
	}
}
