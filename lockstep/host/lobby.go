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
	a.h.now = max(a.h.now, now)
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
		if p := lockstep.Player(i); h.seats[i].bot != nil {
			_ = h.introduce(p) // an error ends the match; Advance handles that
		} else {
			h.show(p, h.seats[i].want.text())
		}
	}
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
