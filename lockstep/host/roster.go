package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A chatLine is a line of chat in the log.
type chatLine struct {
	player   lockstep.Player
	text     string
	position protocol.Position // of its record; 0 for a line from before a recovery
}

// maxChatHistory bounds Options.ChatHistory.
const maxChatHistory = 256

// A chatLog has the last lines of chat, for joiners.
type chatLog []chatLine

// add adds a line, and drops the oldest ones beyond most.
func (l *chatLog) add(line chatLine, most int) {
	*l = append(*l, line)
	if extra := len(*l) - most; extra > 0 {
		*l = (*l)[:copy(*l, (*l)[extra:])]
	}
}

// roster returns notes that tell a joiner what the log has told the others: who has the seats, and what was said last
// before a position.
func (h *Host) roster(before protocol.Position) (notes []byte) {
	for i := range h.seats {
		s, p := &h.seats[i], lockstep.Player(i)
		if s.told == vacant {
			continue
		}
		if s.noted != "" {
			notes = append(notes, record.Note(p, record.TopicName, s.noted)...)
		}
		notes = append(notes, record.Note(p, record.TopicPresence, h.presenceText(p))...)
	}
	for _, l := range h.notes.chat {
		if l.position < before {
			notes = append(notes, record.Note(l.player, record.TopicChat, l.text)...)
		}
	}
	return notes
}

// presenceText returns the presence of a seat as the log has told it.
func (h *Host) presenceText(p lockstep.Player) string {
	switch told := h.seats[p].told; {
	case h.isBot(p):
		return record.PresenceBot
	case told == away:
		return record.PresenceAway
	case told == takenOver:
		return record.PresenceTakenOver
	}
	return record.PresenceHere
}
