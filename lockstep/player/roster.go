package player

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxTold is how many lines of chat a client remembers, to know those in a state_sync that it has told already.
const maxTold = 256

// A roster is what the log has told about the seats, and the last lines of chat.
type roster struct {
	tell    func(event any)
	seats   []Seat
	reasons []string // of the next change of a seat
	ahead   []ahead  // by seat
	told    []Note
}

// An ahead says what a seat's events have told before a tick could. The commands of the next tick go the same way once more,
// and only where they arrive counts.
type ahead struct {
	noted bool // by an event since the last tick
	moved bool // by a command of the tick
	to    Presence
}

// adopt takes the notes and events after the keyframe of a state_sync. They replace what the client knows of the seats.
func (r *roster) adopt(dec *record.Decoder, notes []byte, h *lockstep.Header) error {
	n := int(h.Settings.Players)
	seats, reasons, told := make([]Seat, n), make([]string, n), make([]ahead, n)
	for p := range seats {
		seats[p].Player, told[p].noted = lockstep.Player(p), true
	}
	var chat []Note
	for count := 0; len(notes) > 0; count++ {
		rec, rest, err := dec.Decode(notes)
		if err != nil {
			return err
		}
		if rec.Kind != record.KindNote && rec.Kind != record.KindEvent || count >= 3*n+maxTold {
			return fmt.Errorf("lockstep: client: %w: record %d of kind %d in a state sync", record.ErrMalformed, count+2, rec.Kind)
		}
		notes = rest
		seated := int(rec.Player) < n
		switch {
		case seated && rec.Topic == record.TopicName:
			seats[rec.Player].Name = rec.Text
		case seated && rec.Event == record.EventPresence:
			seats[rec.Player].Presence = presenceOf(rec.Text)
		case seated && rec.Topic == record.TopicReady:
			seats[rec.Player].Ready = rec.Text == record.ReadyYes
		case rec.Topic == record.TopicChat:
			chat = append(chat, Note{rec.Player, rec.Topic, rec.Text})
		}
	}
	before := r.seats
	r.seats, r.reasons = seats, reasons
	r.ahead = told
	for p, s := range seats {
		was := Seat{Player: s.Player}
		if p < len(before) {
			was = before[p]
		}
		if s.Name != was.Name && s.Name != "" && s.Presence != Vacant {
			r.tell(Note{s.Player, record.TopicName, s.Name})
		}
		r.changed(was, "")
	}
	for _, line := range r.unknown(chat) {
		r.chatted(line)
	}
	return nil
}

// unknown returns the lines of a state_sync that follow those that were told. The state can be older than they are.
func (r *roster) unknown(lines []Note) []Note {
	for from := range r.told {
		n := min(len(lines), len(r.told)-from)
		if slices.Equal(r.told[from:from+n], lines[:n]) {
			return lines[n:]
		}
	}
	return lines
}

// chatted tells a line of chat.
func (r *roster) chatted(line Note) {
	if len(r.told) == maxTold {
		r.told = r.told[:copy(r.told, r.told[1:])]
	}
	r.told = append(r.told, line)
	r.tell(line)
}

// take takes a note or an event of the stream.
func (r *roster) take(rec *record.Record) {
	switch {
	case rec.Topic == record.TopicChat:
		r.chatted(Note{rec.Player, rec.Topic, rec.Text})
		return
	case rec.Kind == record.KindEvent:
		r.tell(HostEvent{rec.Player, rec.Event, rec.Text})
	default:
		r.tell(Note{rec.Player, rec.Topic, rec.Text})
	}
	if int(rec.Player) >= len(r.seats) {
		return
	}
	s := &r.seats[rec.Player]
	was, reason := *s, ""
	switch {
	case rec.Topic == record.TopicName:
		s.Name = rec.Text
	case rec.Event == record.EventPresence:
		s.Presence, r.ahead[rec.Player].noted = presenceOf(rec.Text), true
		s.Ready = s.Ready && s.Presence == Here
		reason = r.reason(rec.Player, s.Presence)
	case rec.Topic == record.TopicReady:
		s.Ready = rec.Text == record.ReadyYes
	case rec.Event == record.EventReason:
		r.reasons[rec.Player] = rec.Text
	}
	r.changed(was, reason)
}

// command takes a command of System about a seat.
func (r *roster) command(value any) {
	switch v := value.(type) {
	case *lockstep.Joined:
		if int(v.Player) >= len(r.seats) || r.seats[v.Player].Presence != Bot { // else an event has said so
			r.becomes(v.Player, Here)
		}
	case *lockstep.Lost:
		r.becomes(v.Player, Away)
	case *lockstep.TakenOver:
		r.becomes(v.Player, TakenOver)
	case *lockstep.Left:
		r.becomes(v.Player, Vacant)
	}
}

func (r *roster) becomes(p lockstep.Player, to Presence) {
	if int(p) >= len(r.seats) {
		return // the simulation will say so
	}
	if a := &r.ahead[p]; a.noted {
		a.moved, a.to = true, to
		return
	}
	s := &r.seats[p]
	was := *s
	s.Ready = s.Ready && to == Here
	s.Presence = to // the name stays: the next player has it until a note says another
	r.changed(was, r.reason(p, to))
}

// ticked ends a tick, after its commands.
func (r *roster) ticked() {
	for p, a := range r.ahead {
		r.ahead[p] = ahead{}
		if a.moved {
			r.becomes(lockstep.Player(p), a.to)
		}
	}
}

// The reasons of losses of which the log says nothing else.
const (
	connectionEnded = "the connection ended"
	justLeft        = "left"
)

// reason returns why the presence of a seat becomes another one: what an event said, or what it means that none did.
func (r *roster) reason(p lockstep.Player, to Presence) string {
	noted := r.reasons[p]
	r.reasons[p] = ""
	switch {
	case noted != "":
		return noted
	case to == Away:
		return connectionEnded
	case to == Vacant:
		return justLeft
	}
	return ""
}

// changed tells a change of a seat.
func (r *roster) changed(was Seat, reason string) {
	if now := r.seats[was.Player]; now != was && (now.Presence != Vacant || was.Presence != Vacant) {
		r.tell(SeatChanged{Seat: now, Before: was, Reason: reason})
	}
}

func presenceOf(text string) Presence {
	for i, t := range presenceTexts {
		if t == text {
			return Presence(i)
		}
	}
	return Here // of a later server
}
