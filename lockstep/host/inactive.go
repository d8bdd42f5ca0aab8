package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An InactivePolicy is how a Host treats a player who is connected and gives no command. A rejected command counts like
// any other unless it exceeds Rates; chat does not count. The time is match time: ticks at the full tick rate. So it
// stands still while the match is paused, held or waits, and while the player is away. A reconnect does not begin it again. A player who is about to lose the seat is warned on its connection, 30 s before or
// after half of the time, whichever is later. A player who comes back after that is warned again, and has at least 5 s.
type InactivePolicy struct {
	After lockstep.Time // without a command: 5 minutes, at most a day; negative: for ever, without an event
	Then  InactiveAction

	// Guests is after which time a guest is removed, if Then does nothing earlier: 2 minutes, at most a day; negative: guests are as others.
	Guests lockstep.Time
}

// An InactiveAction is what follows the event [PeerInactive].
type InactiveAction uint8

// The actions.
const (
	ReportInactive   InactiveAction = iota // nothing more
	TakeOverInactive                       // end the connection and take the seat over, see Options.Substitute; the player may come back
	RemoveInactive                         // end the connection and give up the seat
	inactiveActions
)

const noCommand = "no command for a long time"

// A player is warned so long before it loses its seat. Both are at most half of InactivePolicy.After.
const (
	warning      = 30 * lockstep.Second
	leastWarning = 5 * lockstep.Second // on a new connection
)

// inactiveTicks returns a time of the policy in ticks, 0 for a negative one.
func inactiveTicks(h *lockstep.Header, t lockstep.Time) lockstep.Tick {
	if t <= 0 {
		return 0
	}
	return max(1, lockstep.Tick(h.Settings.TicksIn(int64(t))))
}

// countIdle counts a tick for the players who could have commanded in it.
func (h *Host) countIdle() {
	for i := range h.seats {
		s := &h.seats[i]
		if s.peer == nil || s.peer.state != Live || s.told != here {
			continue
		}
		limit, then := h.inactivityOf(s)
		if s.idle++; limit == 0 {
			continue
		}
		if s.idle <= limit { // at the limit too: the player may just be back
			h.warn(s)
		}
		if s.idle != limit {
			continue
		}
		h.event(Event{Kind: PeerInactive, Peer: s.peer.id, Player: lockstep.Player(i), Number: h.header.Settings.Micros(int64(limit)) / int64(lockstep.Second)})
		h.announce(lockstep.Player(i), record.EventInactive, noCommand)
		if then != ReportInactive {
			h.close(s.peer, protocol.CloseInactive, noCommand)
		}
	}
}

// inactivityOf returns after how many ticks without a command what happens to the player of a seat; 0 for never.
func (h *Host) inactivityOf(s *hostSeat) (limit lockstep.Tick, then InactiveAction) {
	limit, then = h.inactive, h.options.Inactive.Then
	if guests := h.inactiveGuests; s.guest && guests > 0 && (limit == 0 || then == ReportInactive || guests < limit) {
		return guests, RemoveInactive
	}
	return limit, then
}

// warn tells a player that it will lose its seat, if that is near.
func (h *Host) warn(s *hostSeat) {
	limit, then := h.inactivityOf(s)
	left := limit - s.idle
	if then == ReportInactive || s.peer.warned || left > h.warningTicks(limit, warning) {
		return
	}
	left = max(left, h.warningTicks(limit, leastWarning))
	s.peer.warned, s.idle = true, limit-left
	seconds := (h.header.Settings.Micros(int64(left)) + int64(lockstep.Second) - 1) / int64(lockstep.Second)
	h.error(s.peer, protocol.ErrorInactive, fmt.Sprintf("%s: without one you lose your seat in %d s", noCommand, seconds), "")
}

func (h *Host) warningTicks(limit lockstep.Tick, t lockstep.Time) lockstep.Tick {
	return min(limit/2, lockstep.Tick(h.header.Settings.TicksIn(int64(t))))
}

// takeOver gives the seat of a player that is not connected to a substitute, if there is one. The player may come back
// with its token, not with a session: commands that it has sent could have the sequences of the substitute's.
func (h *Host) takeOver(p lockstep.Player) {
	s := &h.seats[p]
	s.want, s.session, s.before, s.idle = takenOver, protocol.SessionToken{}, protocol.SessionToken{}, 0
	h.event(Event{Kind: PeerTakenOver, Player: p, Text: s.why})
	h.seatsChanged = true
}
