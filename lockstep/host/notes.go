package host

import (
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
		if p.limited(h.now) { // others may have caused it, so it is no offence
			h.private(p, errorMessage(protocol.ErrorLimit, "too much chat in the match", ""))
		}
	case talk.Said:
		_ = h.c.Note(p.seat, record.TopicChat, m.Text) // an error ends the match; Advance handles that
	}
	h.vote(p, m.Text)
}
