package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Wait says why a match stands still or runs slower. All peers are told.
type Wait struct {
	Reason  string            // "" if the match runs
	Players []lockstep.Player // whom it waits for, ascending; nil if it is for nobody
	Since   lockstep.Time
	Until   lockstep.Time // when it ends at the latest; 0 if nobody knows
}

// Reasons of a Wait, besides those of a lobby, which are in package protocol, and of [Host.Hold].
const (
	WaitsPaused  = protocol.HeldPaused
	WaitsForSlow = protocol.HeldForSlow
	WaitsSlower  = protocol.HeldSlower
)

// tellAfter is how long a wait lasts before the peers are told, and the least time between two changes of it, unless the
// server, a player or the lobby decides.
const tellAfter = lockstep.Second / 2

// waits has the waits of a match.
type waits struct {
	server  Wait              // of Host.Hold
	pauser  []lockstep.Player // who has paused the match, if that is known
	slow    []lockstep.Player // whom a WaitPolicy waits for
	until   lockstep.Time     // how long it waits for them, at most
	present Wait
	told    Wait
	toldAt  lockstep.Time
	version uint64 // of told
}

// Hold stops the sealing of ticks for a reason of the server, such as a full disk, until it is called again. A Wait
// without a Reason lets the match continue. Since is ignored.
func (h *Host) Hold(now lockstep.Time, w Wait) {
	h.at(now)
	w.Reason = pack.Clip(w.Reason, record.MaxNote)
	before := h.waits.server
	if h.over || w.Reason == before.Reason && w.Until == before.Until && slices.Equal(w.Players, before.Players) {
		return
	}
	w.Players = slices.Clone(w.Players)
	h.waits.server = w
	if w.Reason != before.Reason {
		h.wakeAt(h.lobby.Hold(h.now, before.Reason != "", h.lobbySeats()))
		h.pace.waiting, h.pace.waitingAt = w.Reason != "", h.now // a WaitPolicy charges no player for the time of a hold
		kind := MatchHeld
		if w.Reason == "" {
			kind = MatchGoesOn
		}
		h.event(Event{Kind: kind, Player: lockstep.System, Text: w.Reason})
	}
	h.tellWait()
}

// Held returns the reason of [Host.Hold], or "".
func (h *Host) Held() string { return h.waits.server.Reason }

// Wait returns why the match stands still or runs slower, as the peers know it.
func (h *Host) Wait() Wait { return h.waits.told }

// wait returns why the match stands still or runs slower now.
func (h *Host) wait() Wait {
	switch {
	case h.over:
		return Wait{}
	case h.waits.server.Reason != "":
		return h.waits.server
	case h.c.Paused():
		return Wait{Reason: WaitsPaused, Players: h.waits.pauser}
	case h.lobby.Open():
		w := h.lobby.Wait(h.now, h.lobbySeats())
		return Wait{Reason: w.Reason, Players: w.Players, Until: w.Until}
	case h.pace.waiting:
		return Wait{Reason: WaitsForSlow, Players: h.waits.slow, Until: h.waits.until}
	case h.pace.percent < 100:
		return Wait{Reason: WaitsSlower, Players: h.slowed()}
	}
	return Wait{}
}

// slowed returns the players for whom the match is slower.
func (h *Host) slowed() (players []lockstep.Player) {
	for i := range h.seats {
		if s := &h.seats[i]; s.pace.slowed.level > 0 {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// tellWait tells the peers what the match waits for, if that has changed.
func (h *Host) tellWait() {
	x := &h.waits
	w := h.wait()
	w.Since = x.present.Since
	if w.Reason != x.present.Reason {
		w.Since = h.now
	}
	x.present = w
	if w.Reason == x.told.Reason && sameEnd(w.Until, x.told.Until) && slices.Equal(w.Players, x.told.Players) {
		return
	}
	if w.Reason == WaitsForSlow || w.Reason == WaitsSlower {
		at := w.Since + tellAfter
		if x.told.Reason == w.Reason {
			at = x.toldAt + tellAfter
		}
		if h.now < at {
			h.wakeAt(at)
			return
		}
	}
	w.Players = slices.Clone(w.Players)
	x.told, x.toldAt = w, h.now
	x.version++
	for _, p := range h.peers {
		if p.state != Connecting && p.state != Closed {
			h.mark(p)
		}
	}
}

// sameEnd reports whether two ends of a wait are the same for people.
func sameEnd(a, b lockstep.Time) bool { return (a == 0) == (b == 0) && max(a-b, b-a) < lockstep.Second }

// appendWait appends what the match waits for, unless the peer knows it.
func (h *Host) appendWait(p *peer, dst []byte) []byte {
	if p.state == Connecting || p.state == Closed || p.waitVersion == h.waits.version {
		return dst
	}
	p.waitVersion = h.waits.version
	w := &h.waits.told
	h.message = protocol.Message{Kind: protocol.KindHeld, Text: w.Reason, UntilMS: milliseconds(w.Until - h.now)}
	if w.Reason != "" {
		h.message.SinceMS = milliseconds(h.now - w.Since)
	}
	for _, seat := range w.Players {
		h.message.Seats = append(h.message.Seats, byte(seat))
	}
	return h.writer.Append(dst, &h.message)
}

// milliseconds returns a time in milliseconds, 0 for a negative one.
func milliseconds(t lockstep.Time) uint32 { return uint32(min(max(t, 0).Milliseconds(), 1<<32-1)) }
