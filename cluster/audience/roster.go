package audience

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxChat and maxChatBytes bound the lines of chat that a spectator is told when it begins.
	maxChat      = 16
	maxChatBytes = 2 << 10
)

// A roster is what the log has told about the seats, and the last lines of chat.
type roster struct {
	seats []seat
	chat  []line
}

type seat struct {
	name     string
	presence string // "" if nothing was told
	ready    bool   // in the lobby
}

type line struct {
	player lockstep.Player
	text   string
}

// take takes the next record of the log.
func (r *roster) take(rec *record.Record) {
	if rec.Kind == record.KindNote || rec.Kind == record.KindEvent {
		r.note(rec)
		return
	}
	if rec.Ticks() > 0 {
		for i := range r.seats {
			r.seats[i].ready = false // the lobby is over
		}
	}
	for i := range rec.Frame.Commands {
		if c := &rec.Frame.Commands[i]; c.Player == lockstep.System {
			if v, err := record.SystemValue(c); err == nil {
				r.command(v)
			}
		}
	}
}

func (r *roster) note(rec *record.Record) {
	if rec.Topic == record.TopicChat {
		r.chat = append(r.chat, line{rec.Player, rec.Text})
		for size := r.chatBytes(); len(r.chat) > maxChat || size > maxChatBytes; size = r.chatBytes() {
			r.chat = append(r.chat[:0], r.chat[1:]...)
		}
		return
	}
	if int(rec.Player) >= len(r.seats) {
		return
	}
	s := &r.seats[rec.Player]
	switch {
	case rec.Topic == record.TopicName:
		s.name = rec.Text
	case rec.Event == record.EventPresence:
		s.presence = rec.Text
		s.ready = s.ready && rec.Text == record.PresenceHere
	case rec.Topic == record.TopicReady:
		s.ready = rec.Text == record.ReadyYes
	}
}

func (r *roster) chatBytes() (n int) {
	for _, l := range r.chat {
		n += 16 + len(l.text)
	}
	return n
}

func (r *roster) command(value any) {
	become := func(p lockstep.Player, presence string) {
		if int(p) < len(r.seats) {
			r.seats[p].presence = presence
		}
	}
	switch v := value.(type) {
	case *lockstep.Joined:
		if int(v.Player) < len(r.seats) && r.seats[v.Player].presence != record.PresenceBot { // else an event has said so
			become(v.Player, record.PresenceHere)
		}
	case *lockstep.Lost:
		become(v.Player, record.PresenceAway)
	case *lockstep.TakenOver:
		become(v.Player, record.PresenceTakenOver)
	case *lockstep.Left:
		become(v.Player, record.PresenceVacant)
	}
}

// appendNotes appends notes that tell a spectator what the log has told.
func (r *roster) appendNotes(dst []byte) []byte {
	for i := range r.seats {
		s, p := &r.seats[i], lockstep.Player(i)
		if s.name != "" {
			dst = append(dst, record.Note(p, record.TopicName, s.name)...)
		}
		if s.presence == "" || s.presence == record.PresenceVacant {
			continue
		}
		dst = append(dst, record.Event(p, record.EventPresence, s.presence)...)
		if s.ready {
			dst = append(dst, record.Note(p, record.TopicReady, record.ReadyYes)...)
		}
	}
	for _, l := range r.chat {
		dst = append(dst, record.Note(l.player, record.TopicChat, l.text)...)
	}
	return dst
}
