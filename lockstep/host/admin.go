package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Kick ends a connection. A player also loses the seat. The holder is kept out for Options.KickTime, as by
// [Host.BanPeer].
func (h *Host) Kick(now lockstep.Time, id PeerID, reason string) bool {
	h.at(now)
	p := h.find(id)
	if p == nil || p.state == Closed {
		return false
	}
	h.kick(p, reason)
	h.logSeats()
	return true
}

// Remove is Kick for the player of a seat, connected or not. It returns what it has ended.
func (h *Host) Remove(now lockstep.Time, player lockstep.Player, reason string) (Ended, error) {
	h.at(now)
	if err := h.taken(player); err != nil {
		return Ended{}, err
	}
	if s := &h.seats[player]; !h.isBot(player) {
		h.keepOut(s.grant(), s.from, reason)
	}
	ended := h.giveUp(player, protocol.CloseKicked, reason)
	h.logSeats()
	return ended, h.c.Err()
}

// Pause stops the match after the next tick, on behalf of one of its players. A match that is paused already cannot be
// paused again.
func (h *Host) Pause(now lockstep.Time, player lockstep.Player) error {
	h.at(now)
	_, err := h.c.Pause(player)
	if err == nil {
		h.pace.Pause(player)
		h.event(Event{Kind: MatchPaused, Player: player})
	}
	return err
}

// Paused reports whether the match is paused.
func (h *Host) Paused() bool { return h.c.Paused() }

// Resume continues a paused match, on behalf of one of its players or of System.
func (h *Host) Resume(now lockstep.Time, player lockstep.Player) error {
	h.at(now)
	_, err := h.c.Resume(player)
	if err == nil {
		h.event(Event{Kind: MatchResumed, Player: player})
		h.tellWait()
	}
	return err
}

// SetSpeed makes the match run at a percentage of its tick rate, 10 to 1000.
func (h *Host) SetSpeed(now lockstep.Time, percent uint16) error {
	h.at(now)
	if err := record.CheckSpeed(percent); err != nil {
		return err
	}
	err := h.logSpeed(percent)
	if err == nil {
		h.pace.SetSpeed(percent)
	}
	return err
}

// SetInputDelay sets the input delay until a DelayPolicy changes it.
func (h *Host) SetInputDelay(now lockstep.Time, ticks lockstep.Tick) error {
	h.at(now)
	_, err := h.c.SetInputDelay(ticks)
	if err == nil {
		h.event(Event{Kind: DelayChanged, Player: lockstep.System, Number: int64(ticks)})
	}
	return err
}

// Keyframe writes the present state into the log, so that readers of the replay can begin there.
func (h *Host) Keyframe(now lockstep.Time) error {
	h.at(now)
	return h.c.Keyframe()
}

// End ends the match. Connected peers may read the rest of it.
func (h *Host) End(now lockstep.Time, reason string) error {
	h.at(now)
	err := h.c.End(reason)
	if err == nil {
		h.ending.End(reason)
	}
	if !h.ending.Over() {
		h.finish()
	}
	return err
}

// Shutdown suspends the match: it writes an event into the log, ends all connections and tells them when to come back. The
// log has no end, so a server can resume the match from it.
func (h *Host) Shutdown(now lockstep.Time, retry lockstep.Time) {
	h.suspend(now, retry, "the match is suspended: the server is shut down")
}

// Move is [Host.Shutdown] for a match that another server continues.
func (h *Host) Move(now lockstep.Time, retry lockstep.Time) {
	h.suspend(now, retry, "the match moves to another server")
}

// suspend suspends the match. why is what everybody is told.
func (h *Host) suspend(now, retry lockstep.Time, why string) {
	h.at(now)
	h.ending.Suspend(retry, why)
	if !h.ending.Over() {
		_ = h.c.Event(lockstep.System, record.EventSuspended, fmt.Sprintf("after tick %d", h.c.Now())) // after an error the match is over
		h.finish()
	}
	for _, p := range h.peers {
		h.closeEnded(p)
	}
}
