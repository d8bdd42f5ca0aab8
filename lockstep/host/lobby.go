package host

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
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
	a.h.lobby.Close()
	a.h.pace.Begin()
	a.h.made.event(a.h.log.now(), Event{Kind: MatchBegun, Player: lockstep.System})
	a.h.tellWait()
	return nil
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
	if !h.log.talk.Ready(h.budget.Purse(h.now, &h.seats[p].peer.tab), text) {
		h.wake.at(h.now + lockstep.Second)
		return
	}
	h.lobby.Written(p)
	_ = h.c.Note(p, record.TopicReady, text) // an error ends the match; Advance handles that
	h.wake.at(h.now)
}

// tellSeats notes who has which seat, while no tick is sealed that could tell the peers.
func (h *Host) tellSeats() {
	if !h.untold || !h.lobby.Open() && !h.pace.Waiting() && !h.c.Paused() {
		return
	}
	h.untold = false
	for i := range h.seats {
		if p := lockstep.Player(i); h.seats[i].bot != nil {
			_ = h.log.introduce(p, &h.seats[i]) // an error ends the match; Advance handles that
		} else {
			h.log.show(p, &h.seats[i], h.seats[i].want.text())
		}
	}
}
