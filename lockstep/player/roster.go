package player

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Presence says what the owner of a seat does.
type Presence uint8

// The presences.
const (
	Vacant    Presence = iota // nobody has the seat
	Here                      // plays
	Away                      // was lost, and may come back
	TakenOver                 // did not come back in time; may still come back
	Bot                       // a bot of the server plays
)

var presenceTexts = [...]string{"vacant", record.PresenceHere, record.PresenceAway, record.PresenceTakenOver, record.PresenceBot}

func (p Presence) String() string { return presenceTexts[p] }

// A Seat is a seat of the match, as the log tells it up to the client's tick.
type Seat struct {
	Player   lockstep.Player
	Name     string // "" if it is not known
	Presence Presence
}

// Seats returns the seats that somebody has, by number.
func (c *Client) Seats() []Seat {
	return slices.DeleteFunc(slices.Clone(c.roster.seats), func(s Seat) bool { return s.Presence == Vacant })
}

// maxTold is how many lines of chat a client remembers, to know those in a state_sync that it has told already.
const maxTold = 256

// A roster is what the log has told about the seats, and the last lines of chat.
type roster struct {
	seats   []Seat
	reasons []string // of the next change of a seat
	told    []Note
}

// adoptRoster takes the notes after the keyframe of a state_sync. They replace what the client knows of the seats.
func (c *Client) adoptRoster(dec *record.Decoder, notes []byte, h *lockstep.Header) error {
	n := int(h.Settings.Players)
	seats, reasons := make([]Seat, n), make([]string, n)
	for p := range seats {
		seats[p].Player = lockstep.Player(p)
	}
	var chat []Note
	for count := 0; len(notes) > 0; count++ {
		r, rest, err := dec.Decode(notes)
		if err != nil {
			return err
		}
		if r.Kind != record.KindNote || count >= 2*n+maxTold {
			return fmt.Errorf("lockstep: client: %w: record %d of kind %d in a state sync", record.ErrMalformed, count+2, r.Kind)
		}
		notes = rest
		seated := int(r.Player) < n
		switch {
		case seated && r.Topic == record.TopicName:
			seats[r.Player].Name = r.Text
		case seated && r.Topic == record.TopicPresence:
			seats[r.Player].Presence = presenceOf(r.Text)
		case r.Topic == record.TopicChat:
			chat = append(chat, Note{r.Player, r.Topic, r.Text})
		}
	}
	before := c.roster.seats
	c.roster.seats, c.roster.reasons = seats, reasons
	for p, s := range seats {
		was := Seat{Player: s.Player}
		if p < len(before) {
			was = before[p]
		}
		if s.Name != was.Name && s.Name != "" {
			c.tell(Note{s.Player, record.TopicName, s.Name})
		}
		c.changed(was, "")
	}
	for _, line := range c.roster.unknown(chat) {
		c.chatted(line)
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
func (c *Client) chatted(line Note) {
	r := &c.roster
	if len(r.told) == maxTold {
		r.told = r.told[:copy(r.told, r.told[1:])]
	}
	r.told = append(r.told, line)
	c.tell(line)
}

// note takes a note of the stream.
func (c *Client) note(n Note) {
	if n.Topic == record.TopicChat {
		c.chatted(n)
		return
	}
	c.tell(n)
	if int(n.Player) >= len(c.roster.seats) {
		return
	}
	s := &c.roster.seats[n.Player]
	was := *s
	switch n.Topic {
	case record.TopicName:
		s.Name = n.Text
	case record.TopicPresence:
		s.Presence = presenceOf(n.Text)
	case record.TopicReason:
		c.roster.reasons[n.Player] = n.Text
	}
	c.changed(was, "")
}

// seatCommand takes a command of System about a seat.
func (c *Client) seatCommand(value any) {
	switch v := value.(type) {
	case *lockstep.Joined:
		c.seatBecomes(v.Player, Here)
	case *lockstep.Lost:
		c.seatBecomes(v.Player, Away)
	case *lockstep.TakenOver:
		c.seatBecomes(v.Player, TakenOver)
	case *lockstep.Left:
		c.seatBecomes(v.Player, Vacant)
	}
}

func (c *Client) seatBecomes(p lockstep.Player, to Presence) {
	if int(p) >= len(c.roster.seats) {
		return // the simulation will say so
	}
	s := &c.roster.seats[p]
	was := *s
	s.Presence = to // the name stays: the next player has it until a note says another
	c.changed(was, c.roster.reasons[p])
	c.roster.reasons[p] = ""
}

// changed tells a change of a seat.
func (c *Client) changed(was Seat, reason string) {
	if now := c.roster.seats[was.Player]; now != was {
		c.tell(SeatChanged{Seat: now, Before: was, Reason: reason})
	}
}

func presenceOf(text string) Presence {
	for i, t := range presenceTexts[1:] {
		if t == text {
			return Presence(i + 1)
		}
	}
	return Here // of a later server
}
