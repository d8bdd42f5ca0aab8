package host

import (
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Wait says why a match stands still or runs slower. All peers are told. Reason is "" if the match runs.
type Wait = pace.Wait

// Reasons of a Wait, besides those of a lobby, which are in package protocol, and of [Admin.Hold].
const (
	WaitsPaused  = protocol.HeldPaused
	WaitsForSlow = protocol.HeldForSlow
	WaitsSlower  = protocol.HeldSlower
)

// Hold stops the sealing of ticks for a reason of the server, such as a full disk, until it is called again. A Wait
// without a Reason lets the match continue. Since is ignored.
func (a Admin) Hold(now lockstep.Time, w Wait) {
	a.h.now = max(a.h.now, now)
	w.Reason = pack.Clip(w.Reason, record.MaxNote)
	before := a.h.pace.Held()
	if a.h.ending.Over() || !a.h.pace.Hold(a.h.now, w) {
		return
	}
	if w.Reason != before {
		a.h.wake.at(a.h.lobby.Hold(a.h.now, before != "", a.h.seats.lobby()))
		kind := MatchHeld
		if w.Reason == "" {
			kind = MatchGoesOn
		}
		a.h.made.event(a.h.log.now(), Event{Kind: kind, Player: lockstep.System, Text: w.Reason})
	}
	a.h.tellWait()
}

// tellWait tells the peers what the match waits for, if that has changed.
func (h *Host) tellWait() {
	now := pace.Situation{Over: h.ending.Over(), Paused: h.c.Paused()}
	if h.lobby.Open() && !now.Over && !now.Paused && h.pace.Held() == "" {
		w := h.lobby.Wait(h.now, h.seats.lobby())
		now.Lobby = Wait{Reason: w.Reason, Players: w.Players, Until: w.Until}
	}
	changed, again := h.pace.Tell(h.now, now)
	h.wake.at(again)
	if !changed {
		return
	}
	for _, p := range h.peers.all {
		if p.state != Connecting && p.state != Closed {
			h.peers.mark(p)
		}
	}
}

// appendWait appends what the match waits for, unless the peer knows it.
func (p *peer) appendWait(dst []byte, w *protocol.Writer, now lockstep.Time, of *pace.Pace) []byte {
	if p.state == Connecting || p.state == Closed || p.waitVersion == of.Version() {
		return dst
	}
	p.waitVersion = of.Version()
	told := of.Told()
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
