package host

import (
	"cmp"
	"errors"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A presence is the state of a seat's player, as the simulation sees it.
type presence uint8

const (
	vacant presence = iota
	here
	away      // lost, and may come back
	takenOver // the player did not return in time
)

func (p presence) text() string {
	return [...]string{record.PresenceVacant, record.PresenceHere, record.PresenceAway, record.PresenceTakenOver}[p]
}

// A hostSeat is the Host's state of one seat.
type hostSeat struct {
	bot     lockstep.Bot // nil for a person
	peer    *peer        // the connection that owns the seat, or nil
	owner   string       // the subject of its token
	guest   bool         // see Grant.Guest
	token   string       // the ID of the latest token that took the seat
	from    string       // the address of its latest connection
	name    string
	claim   string // the last one in the log that a recovery has read, see record.EventClaim
	role    protocol.Role
	session protocol.SessionToken // resumes the seat once
	before  protocol.SessionToken // the previous session, until the client has shown that it has the new one
	lostAt  lockstep.Time
	played  bool          // its player, or its substitute, has given a command
	since   lockstep.Time // when its player took it

	want, told presence // actual, and according to the log
	leaves     bool     // the previous player's leave is not in the log yet
	sealing    bool     // the next sealed tick tells the peers what told says
	why        string   // of the next change in the log; "" where it says enough
	shown      string   // its presence as the peers know it; "" for vacant
	sawEnd     bool     // its connection has closed after the end of the match
	awaited    bool     // it was here when the match was interrupted, and has not come back

	inherited bool   // its player comes from the match in whose state this one began, and nobody has taken it since
	reserved  string // the claim of the only player who may take it, or ""; see record.EventReserved

	resynced lockstep.Tick // the last sealed tick when it was sent a keyframe after a desync

	substitution substitution // of a player whose seat is taken over

	account budget.ID // pays for the match time that the seat costs; 0 if its player is unknown
}

// leaveSeat releases a seat when its peer's connection ends.
func (h *Host) leaveSeat(p *peer) {
	if p.seat == lockstep.System {
		if p.state != Connecting && p.state != Closed {
			h.made.event(h.log.now(), Event{Kind: PeerLeft, Peer: p.id, Player: lockstep.System, Code: p.code, Text: p.whyGone()})
		}
		return
	}
	s := &h.seats[p.seat]
	if s.peer != p {
		return // replaced, or left already
	}
	h.lobby.Leave(p.seat)
	if s.peer = nil; h.ending.Over() {
		return
	}
	if p.reason != leftUntold {
		s.why = p.reason
	}
	_, then := h.idle.Limit(s.guest)
	switch {
	case p.code == protocol.CloseInactive && then == TakeOverInactive && p.reason != makesRoom:
		h.takeOver(p.seat)
	case p.code == protocol.CloseLeft, p.code == protocol.CloseKicked, p.code == protocol.CloseBanned, p.code == protocol.CloseInactive:
		h.vacate(p.seat)
		h.made.event(h.log.now(), Event{Kind: PeerLeft, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	default:
		s.want, s.lostAt = away, h.now
		h.seatsChanged = true
		h.wake.at(h.now + h.options.Grace)
		h.made.event(h.log.now(), Event{Kind: PeerLost, Peer: p.id, Player: p.seat, Code: p.code, Text: p.whyGone()})
	}
	h.untold = true
	h.tellSeats() // at once: the next player must not seem to be the same one
}

// vacate gives up a seat for good. The next player inherits only the sequences, and the name in the log until a note replaces it. The log
// has this player's leave before the next player's join, even if no tick passes between the two.
func (h *Host) vacate(p lockstep.Player) {
	s := &h.seats[p]
	h.bill(p, 0)
	h.lobby.Leave(p)
	h.log.giveBack(p, &h.seats[p].substitution)
	h.idle.Reset(p)
	h.pace.Bill(p, 0)
	h.donors.Leave(p)
	*s = hostSeat{
		shown: s.shown, told: s.told, sealing: s.sealing, leaves: s.leaves || s.told != vacant, why: s.why, reserved: s.reserved, substitution: s.substitution,
	}
	h.seatsChanged = true
}

// Awaited returns the players who were connected when the match was interrupted, and are not live again.
func (x Info) Awaited() (players []lockstep.Player) {
	for i := range x.h.seats {
		s := &x.h.seats[i]
		if s.awaited = s.awaited && (s.peer == nil || s.peer.state != Live); s.awaited {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// leftUntold is the reason of a player who leaves and does not say why. The log needs none then.
const leftUntold = "left"

// connectionEnded is the reason in events of a connection that the host has not closed. The log needs none then.
const connectionEnded = "the connection ended"

// whyGone returns the reason in an event of the peer's end. The code says enough of one who leaves and gives no reason.
func (p *peer) whyGone() string {
	if p.reason == leftUntold {
		return ""
	}
	if p.panicked {
		return clientPanicked
	}
	return cmp.Or(p.reason, connectionEnded)
}

// leave handles a peer's own wish to leave. The log has its reason, so it counts like a note of the player.
func (h *Host) leave(p *peer, reason string) {
	why := leftUntold
	if p.seat != lockstep.System && reason != "" && h.log.talk.Note(h.budget.Purse(h.now, &p.tab), reason) {
		why += ": " + reason
	}
	h.close(p, protocol.CloseLeft, pack.Clip(why, record.MaxNote))
}

// logSeats writes the changes of the seats into the log.
func (h *Host) logSeats() {
	if !h.seatsChanged || h.c.Err() != nil {
		return
	}
	if h.lobby.Open() { // who comes and goes there is in no tick
		h.untold = true
		h.tellSeats()
		return
	}
	h.seatsChanged = false
	for i := range h.seats {
		s := &h.seats[i]
		if s.want == s.told && !s.leaves {
			continue
		}
		told, leaves := s.told, s.leaves
		again, err := h.log.seat(lockstep.Player(i), s)
		h.seatsChanged = h.seatsChanged || again
		h.takeDesyncs()
		if err == nil {
			s.told = s.want
		}
		h.untold, s.sealing = true, s.sealing || s.told != told || s.leaves != leaves
		switch {
		case err == nil:
		case errors.Is(err, coordinator.ErrBusy):
			h.seatsChanged = true // again after the next tick
		default:
			return // the match is over
		}
	}
	h.tellSeats()
}

// takeOver gives the seat of a player that is not connected to a substitute, if there is one. The player may come back
// with its token, not with a session: commands that it has sent could have the sequences of the substitute's.
func (h *Host) takeOver(p lockstep.Player) {
	s := &h.seats[p]
	s.want, s.session, s.before = takenOver, protocol.SessionToken{}, protocol.SessionToken{}
	h.idle.Reset(p)
	h.made.event(h.log.now(), Event{Kind: PeerTakenOver, Player: p, Text: s.why})
	h.seatsChanged = true
}

const notBack = "did not come back"

// seatTime ends the grace period of a lost player.
func (h *Host) seatTime(p lockstep.Player) {
	s := &h.seats[p]
	if s.want != away {
		return
	}
	end := s.lostAt + h.options.Grace
	if h.now < end {
		h.wake.at(end)
		return
	}
	if h.options.LeaveAfterGrace {
		s.why = notBack
		h.vacate(p)
		h.made.event(h.log.now(), Event{Kind: PeerLeft, Player: p, Text: notBack})
	} else {
		s.why = notBack
		h.takeOver(p)
	}
	h.seatsChanged = true
	h.logSeats()
}
