package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// chat writes a chat line to the log, which all peers receive, and counts it if it is a vote.
func (h *Host) chat(p *peer, m *protocol.Message) {
	switch h.talk.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Text, h.ring.Next()) {
	case talk.Forbidden:
		h.offend(p, protocol.ErrorRole, "spectators do not chat here")
		return
	case talk.TooMuch:
		h.offend(p, protocol.ErrorLimit, "too much chat")
		return
	case talk.Nothing:
		return
	case talk.Full:
		h.limited(p, "too much chat in the match") // others may have caused it, so it is no offence
	case talk.Said:
		_ = h.c.Note(p.seat, record.TopicChat, m.Text) // an error ends the match; Advance handles that
	}
	h.vote(p, m.Text)
}

// announce writes an event about a player to the log, within the limit for announcements.
func (h *Host) announce(about lockstep.Player, name, text string) {
	if h.talk.Announce(text) {
		_ = h.c.Event(about, name, text) // an error ends the match; Advance handles that
	}
}

// noteName writes the name of a player to the log if the log has another one, or later if a limit is exceeded.
func (h *Host) noteName(seat lockstep.Player) {
	s := &h.seats[seat]
	if s.peer != nil && h.talk.Name(h.budget.Purse(h.now, &s.peer.tab), seat, s.name) {
		_ = h.c.Note(seat, record.TopicName, s.name) // an error ends the match; Advance handles that
	}
}

// noteTime offers the names and the readiness again that exceeded a limit.
func (h *Host) noteTime() {
	if !h.talk.Retry() {
		return
	}
	for i := range h.seats {
		h.noteName(lockstep.Player(i))
		h.noteReady(lockstep.Player(i))
	}
	if h.talk.Waits() {
		h.wake.at(h.now + lockstep.Second)
	}
}
