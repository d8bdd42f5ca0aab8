package host

import (
	"cmp"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A StartPolicy says when a match leaves its lobby. In the lobby no tick is sealed, and everybody sees the first state.
type StartPolicy = lobby.Policy

// ErrBegun is the error of [Admin.Start] for a match that has left its lobby.
var ErrBegun = errors.New("lockstep: host: the match has begun")

// Start ends the lobby at once.
func (a Admin) Start(now lockstep.Time) error {
	a.h.at(now)
	if !a.h.lobby.Open() || a.h.ending.Over() {
		return ErrBegun
	}
	a.h.leaveLobby()
	return nil
}

func (h *Host) leaveLobby() {
	h.lobby.Close()
	h.pace.Begin()
	h.event(Event{Kind: MatchBegun, Player: lockstep.System})
	h.tellWait()
}

// lobbySeats returns the present occupants of the seats.
func (h *Host) lobbySeats() []lobby.Seat {
	seats := make([]lobby.Seat, len(h.seats))
	for i := range h.seats {
		s := &h.seats[i]
		seats[i] = lobby.Seat{Bot: h.isBot(lockstep.Player(i)), Here: s.want == here, Away: s.want == away, Account: s.account}
	}
	return seats
}

// setReady records that a player is ready, or no longer.
func (h *Host) setReady(p *peer, m *protocol.Message) {
	switch {
	case p.seat == lockstep.System:
		h.offend(p, protocol.ErrorRole, "spectators are not asked whether they are ready")
	case !h.lobby.Say(h.purse(p), p.seat, m.Ready):
		h.limited(p, "you have changed your mind too often: you stay ready")
	default:
		h.noteReady(p.seat)
	}
}

// noteReady writes the readiness of a player to the log, or later if a limit is exceeded.
func (h *Host) noteReady(p lockstep.Player) {
	says, unwritten := h.lobby.Unwritten(p)
	if !unwritten || h.seats[p].peer == nil {
		return
	}
	text := record.ReadyNo
	if says {
		text = record.ReadyYes
	}
	if !h.talk.Ready(h.purse(h.seats[p].peer), text) {
		h.wakeAt(h.now + lockstep.Second)
		return
	}
	h.lobby.Written(p)
	_ = h.c.Note(p, record.TopicReady, text) // an error ends the match; Advance handles that
	h.wakeAt(h.now)
}

// tellSeats notes who has which seat, while no tick is sealed that could tell the peers.
func (h *Host) tellSeats() {
	if !h.untold || !h.lobby.Open() && !h.pace.Waiting() && !h.c.Paused() {
		return
	}
	h.untold = false
	for i := range h.seats {
		if p := lockstep.Player(i); h.isBot(p) {
			_ = h.introduce(p) // an error ends the match; Advance handles that
		} else {
			h.show(p, h.seats[i].want.text())
		}
	}
}

// tickTold notes that the peers know the seats from the sealed tick.
func (h *Host) tickTold() {
	for i := range h.seats {
		if s := &h.seats[i]; s.sealing {
			s.shown, s.sealing = h.presence(lockstep.Player(i), s.told), false
		}
	}
}

// presence returns the text of a seat's presence.
func (h *Host) presence(p lockstep.Player, of presence) string {
	if h.isBot(p) {
		return record.PresenceBot
	}
	return of.text()
}

// show notes a presence that the peers do not know.
func (h *Host) show(p lockstep.Player, presence string) {
	s := &h.seats[p]
	before := cmp.Or(s.shown, record.PresenceVacant)
	if presence == before {
		return
	}
	if s.why != "" && before != record.PresenceVacant {
		h.announce(p, record.EventReason, s.why)
	}
	s.shown, s.why = presence, ""
	h.announce(p, record.EventPresence, presence)
}
