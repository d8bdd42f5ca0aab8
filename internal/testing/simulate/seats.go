package simulate

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A seating has the seats as the log tells them.
type seating struct {
	position int // of the record that is read
	changes  []seatChange
	notes    int // bytes
}

// A seatChange is what one record says about a seat.
type seatChange struct {
	position    int
	command     bool // not a note
	seat        uint8
	topic, text string
}

// A seatState is what the log says about a seat up to a position.
type seatState struct {
	name, presence string
	ready          bool
}

func (s *seatState) take(c *seatChange) {
	switch c.topic {
	case record.TopicName:
		s.name = c.text
	case record.EventPresence:
		if c.command && s.presence == record.PresenceBot && c.text == record.PresenceHere {
			return // the note before the bot's join has said so
		}
		s.presence, s.ready = c.text, s.ready && c.text == record.PresenceHere
	case record.TopicReady:
		s.ready = c.text == record.ReadyYes
	}
}

// presences are those after a command of the system, by its kind.
var presences = [...]string{1: record.PresenceHere, 2: record.PresenceVacant, 3: record.PresenceAway, 4: record.PresenceTakenOver}

// command follows a command of the system.
func (s *seating) command(kind uint64, payload []byte) {
	if kind == 0 || kind >= uint64(len(presences)) || len(payload) != 1 {
		return
	}
	s.changes = append(s.changes, seatChange{s.position, true, payload[0], record.EventPresence, presences[kind]})
}

// note follows a note.
func (s *seating) note(p lockstep.Player, topic, text string) {
	s.notes += 16 + len(text)
	if p != lockstep.System && slices.Contains([]string{record.TopicName, record.EventPresence, record.TopicReady}, topic) {
		s.changes = append(s.changes, seatChange{s.position, false, uint8(p), topic, text})
	}
}

// full reports whether the log may have no room to say who is there.
func (s *seating) full(w *world) bool {
	most := w.plan.Host.NoteBytes
	return most > 0 && s.notes > most/2-100
}

// forget forgets the records from a position on.
func (s *seating) forget(position int) {
	s.changes = slices.DeleteFunc(s.changes, func(c seatChange) bool { return c.position >= position })
}

// at returns the seats before the record at a position.
func (s *seating) at(position int) (seats [256]seatState) {
	for i := range seats {
		seats[i].presence = record.PresenceVacant
	}
	for i := range s.changes {
		if c := &s.changes[i]; c.position < position {
			seats[c.seat].take(c)
		}
	}
	return seats
}

// seesSeats checks that the client knows the seats as the log tells them. A client between two ticks may know some of the
// notes between them.
func (m *machine) seesSeats() {
	w, wire := m.w, m.wire
	o := w.oracle
	if wire == nil || m.liar != nil || m.client.Stage() != player.StageLive || wire.tap.at == 0 || o.seating.full(w) ||
		wire.epoch != len(o.epochs)-1 || m.truth.epoch != wire.epoch {
		return
	}
	ticks, t := o.now().ticks, m.client.Tick()
	low, high := wire.next(), wire.next()
	if ticks[high-1] != t {
		at, _ := slices.BinarySearchFunc(ticks, t, func(a, b lockstep.Tick) int { return cmp.Compare(a, b) })
		low = at + 1
	}
	var seen [256]seatState
	for i := range seen {
		seen[i].presence = record.PresenceVacant
	}
	for _, s := range m.client.Seats() {
		seen[s.Player] = seatState{s.Name, s.Presence.String(), s.Ready}
	}
	for i, want := range o.seating.between(low, high) {
		if !slices.ContainsFunc(want, func(s seatState) bool {
			return s.looks(&seen[i], w.server.up() && w.server.host.Status().InLobby && wire.next() > o.now().begins)
		}) {
			w.fail("I17", "%s sees the seat of player %d at tick %d as %+v, want %+v", m, i, t, seen[i], want)
			return
		}
	}
	w.Counts["seats compared"]++
}

// looks reports whether a client may see the seat so. Clients do not tell the name of a vacant seat, and only players in a
// lobby are asked whether they are ready.
func (s *seatState) looks(as *seatState, lobby bool) bool {
	if s.presence == record.PresenceVacant {
		return as.presence == record.PresenceVacant
	}
	return s.name == as.name && s.presence == as.presence && (s.ready == as.ready || !lobby)
}

// between returns the states of each seat before the records from one position to another.
func (s *seating) between(low, high int) (all [256][]seatState) {
	seats := s.at(low)
	for i := range seats {
		all[i] = append(all[i], seats[i])
	}
	for i := range s.changes {
		if c := &s.changes[i]; c.position >= low && c.position < high {
			seats[c.seat].take(c)
			all[c.seat] = append(all[c.seat], seats[c.seat])
		}
	}
	return all
}
