package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// notes counts the names and the chat that peers have written into the log. Every peer is sent all of them, and they
// stay in the file.
type notes struct {
	bytes   int
	waiting bool // a name, or who is ready, is not in the log yet
	chat    chatLog
}

// A chatLine is a line of chat in the log.
type chatLine struct {
	player   lockstep.Player
	text     string
	position protocol.Position // of its record; 0 for a line from before a recovery
}

// A chatLog has the last lines of chat, for joiners.
type chatLog []chatLine

// maxChatBytes bounds the text of a chatLog: a flood of chat must not make joining slow.
const maxChatBytes = 2 << 10

// add adds a line, and drops the oldest ones beyond most lines or maxChatBytes.
func (l *chatLog) add(line chatLine, most int) {
	*l = append(*l, line)
	first, size := len(*l), 0
	for first > max(0, len(*l)-most) {
		if size += noteSize((*l)[first-1].text); size > maxChatBytes {
			break
		}
		first--
	}
	*l = (*l)[:copy(*l, (*l)[first:])]
}

// noteSize returns the number of bytes of Options.MaxNoteBytes that a note uses.
func noteSize(text string) int { return 16 + len(text) }

// readyBytes is the part of Options.MaxNoteBytes that is for who is ready, alone: chat must not keep a match in its lobby.
const readyBytes = 16

// mayNote takes a note from the budgets of a peer and of the match. It returns false if one of them is used up.
func (h *Host) mayNote(p *peer, text string) bool {
	return h.mayNoteWithin(p, text, h.options.MaxNoteBytes-h.options.MaxNoteBytes/readyBytes)
}

// mayNoteWithin is mayNote with a limit of the bytes of all notes.
func (h *Host) mayNoteWithin(p *peer, text string, most int) bool {
	size := noteSize(text)
	if h.notes.bytes+size > most || !h.budget.Take(h.now, &p.tab, budget.Notes, 1) {
		return false
	}
	h.notes.bytes += size
	return true
}

// chat writes a line into the log, which all peers read.
func (h *Host) chat(p *peer, m *protocol.Message) {
	switch {
	case p.seat == lockstep.System && !h.options.SpectatorChat:
		h.offend(p, protocol.ErrorRole, "spectators do not chat here")
	case !h.budget.Take(h.now, &p.tab, budget.Chat, 1):
		h.offend(p, protocol.ErrorLimit, "too much chat")
	case m.Text == "":
	case !h.mayNote(p, m.Text):
		h.limited(p, "too much chat in the match") // others may have caused it, so it is no offence
		h.vote(p, m.Text)
	default:
		h.chatted(chatLine{p.seat, m.Text, h.ring.Next()})
		_ = h.c.Note(p.seat, record.TopicChat, m.Text) // an error ends the match; Advance handles that
		h.vote(p, m.Text)
	}
}

// chatted keeps a line for joiners.
func (h *Host) chatted(line chatLine) {
	if h.options.ChatHistory > 0 {
		h.notes.chat.add(line, h.options.ChatHistory)
	}
}

// announce writes an event about a player into the log if that leaves half of the bytes to names and chat.
func (h *Host) announce(about lockstep.Player, name, text string) {
	if h.notes.bytes+noteSize(text) > h.options.MaxNoteBytes/2 {
		return
	}
	h.notes.bytes += noteSize(text)
	_ = h.c.Event(about, name, text) // an error ends the match; Advance handles that
}

// noteName writes a player's name into the log if the log has another one. Beyond the limits it is written later: of
// several changes, only the last.
func (h *Host) noteName(seat lockstep.Player) {
	s := &h.seats[seat]
	if s.peer == nil || s.name == s.noted {
		return
	}
	if !h.mayNote(s.peer, s.name) {
		h.notes.waiting = true
		return
	}
	s.noted = s.name
	_ = h.c.Note(seat, record.TopicName, s.name) // an error ends the match; Advance handles that
}

// noteTime writes the names and the readiness that were beyond the limits.
func (h *Host) noteTime() {
	if !h.notes.waiting {
		return
	}
	h.notes.waiting = false
	for i := range h.seats {
		h.noteName(lockstep.Player(i))
		h.noteReady(lockstep.Player(i))
	}
	if h.notes.waiting {
		h.wakeAt(h.now + lockstep.Second)
	}
}
