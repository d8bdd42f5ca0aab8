package host

import (
	"errors"
	"fmt"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// An alarm is when the next timer other than a tick is due.
type alarm lockstep.Time

// at makes it due at a time, or earlier.
func (a *alarm) at(t lockstep.Time) { *a = min(*a, alarm(t)) }

// due returns when Advance is due next in a match that is over, or goes on.
func (a alarm) due(now lockstep.Time, over bool, p *pace.Pace) lockstep.Time {
	switch {
	case over:
		return lockstep.Time(a)
	case !p.Running():
		return now
	}
	return min(lockstep.Time(a), p.Due())
}

// Advance seals the ticks that are due and runs the timers: it closes silent and slow connections, gives up on lost
// players, sends pings, and follows the policies. The first call starts the match's clock. After a stall Advance seals
// at most MaxCatchUp ticks and skips the others: the match stays late instead of hurrying. A stall does not count as a
// peer's silence.
func (h *Host) Advance(now lockstep.Time) {
	h.now = max(h.now, now)
	h.pace.Start(h.now)
	if late := h.now - h.wake.due(h.now, h.ending.Over(), h.pace); late > stall {
		// The program or its machine did not run, so messages that arrived meanwhile were not read.
		for _, p := range h.peers.all {
			p.link.Forgive(h.now, late)
			p.stream.Forgive(late)
		}
		h.seats.forgive(h.now, late)
		h.pace.Forgive(h.now, late)
		h.ending.Forgive(h.now, late)
		h.lobby.Forgive(h.now, late)
		h.evidence.Forgive(late)
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
			h.made.event(h.log.now(), Event{Kind: TicksSkipped, Player: lockstep.System, Number: late})
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
		h.log.last = h.c.AppendLast(h.log.last[:0])
		h.donors.Remember(t, h.ring.Next(), h.log.last)
	}
	delay := h.log.policy.Delay
	if delay == 0 {
		return
	}
	h.log.barrier.Seal(t, h.ring.Next())
	if k, ok := h.c.Check(t); ok {
		h.log.checks.Show(k)
	}
	h.log.check(t)
	if t%((delay+3)/4) == 0 {
		if k := h.log.keyframe(h.now, h.seats, h.lobby); k != nil {
			h.log.keyframes.Keep(k, h.log.barrier.Hidden(t))
		}
	}
}

// finish handles the end of the match. Peers that are behind may read on until closesAt.
func (h *Host) finish() {
	result, byRules := h.c.Result()
	h.ending.Finish(h.now, byRules)
	h.evidence.Finish()
	h.settle()
	if fault := (*lockstep.PanicError)(nil); errors.As(h.c.Err(), &fault) && h.options.Evidence {
		h.evidence.Panicked(h.Now()+1, lockstep.System, h.seats.participants(), &record.Panic{Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack)})
		h.settle()
	}
	h.made.event(h.log.now(), Event{Kind: MatchOver, Player: lockstep.System, Text: h.ending.Reason(h.c.Err(), byRules), ByRules: byRules, Result: h.header.ResultJSON(result)})
	for _, p := range h.peers.all {
		h.peers.mark(p)
		if p.state == Connecting && !h.ending.Lingers(h.now, h.seats.seen()) {
			h.closeEnded(p)
		}
	}
	h.wake.at(h.ending.ClosesAt(h.seats.seen()))
}

// closeEnded ends a connection because the match is over.
func (h *Host) closeEnded(p *peer) {
	code, text := h.ending.Closing(h.c.Err())
	h.close(p, code, text)
}

const allLeft = "all players have left"

// keepTime runs every timer, and finds the earliest of the remaining ones.
func (h *Host) keepTime() {
	h.wake = alarm(never)
	for _, p := range h.peers.all {
		if p.state != Closed {
			h.peerTime(p)
		}
	}
	if !h.ending.Over() {
		for i := range h.seats {
			h.seatTime(lockstep.Player(i))
		}
		if h.log.talk.Retry() { // what exceeded a limit is offered again
			for i := range h.seats {
				if s, p := &h.seats[i], lockstep.Player(i); s.peer != nil {
					h.log.noteName(p, s, h.budget.Purse(h.now, &s.peer.tab))
					h.noteReady(p)
				}
			}
			if h.log.talk.Waits() {
				h.wake.at(h.now + lockstep.Second)
			}
		}
		h.evidence.Advance(h.now)
		h.settle()
		h.waitingTime()
		h.paceTime()
		people := h.seats.people()
		if ends, at := h.ending.Abandoned(h.now, people == 0); ends {
			_ = h.Admin().End(h.now, allLeft) // the match goes on, so it can end
		} else {
			h.wake.at(at)
		}
		due, wake := h.views.Due(h.now)
		if h.wake.at(wake); due {
			h.makeViews(false)
		}
	} else if h.ending.Lingers(h.now, h.seats.seen()) {
		h.waitingTime()
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
}

// peerTime runs the timers of one peer.
func (h *Host) peerTime(p *peer) {
	if h.ending.Over() && h.now >= h.ending.ClosesAt(h.seats.seen()) {
		h.closeEnded(p)
		return
	}
	if p.state == Connecting {
		if h.now >= p.stream.Deadline() {
			h.close(p, protocol.CloseTimeout, "no auth in time")
			return
		}
		h.wake.at(p.stream.Deadline())
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
	h.wake.at(p.link.Next(h.options.IdleTimeout))
	if p.datagrams != nil { // sends again what is due, or lets the stream carry it
		due, next := p.datagrams.Due(h.now)
		if h.wake.at(next); due {
			h.peers.mark(p)
		}
	}
	h.syncTime(p)
	if h.ending.Over() {
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
}
