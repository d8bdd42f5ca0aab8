package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// chat writes a chat line to the log, which all peers receive, and counts it if it is a vote.
func (h *Host) chat(p *peer, m *protocol.Message) {
	switch h.log.talk.Say(h.budget.Purse(h.now, &p.tab), p.seat, m.Text, h.ring.Next()) {
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

// noteTime offers the names and the readiness again that exceeded a limit.
func (h *Host) noteTime() {
	if !h.log.talk.Retry() {
		return
	}
	for i := range h.seats {
		if s := &h.seats[i]; s.peer != nil {
			h.log.noteName(lockstep.Player(i), s, h.budget.Purse(h.now, &s.peer.tab))
		}
		h.noteReady(lockstep.Player(i))
	}
	if h.log.talk.Waits() {
		h.wake.at(h.now + lockstep.Second)
	}
}
