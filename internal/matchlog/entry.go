package matchlog

import (
	"encoding/base64"
	"fmt"
	"strconv"
)

// An Entry is a command, a reported checksum, a state, or a note.
type Entry struct {
	Tick     uint32
	Player   uint8
	Checksum bool // else it is a state if Dump, a note if it has a Topic, or a command
	Dump     bool

	Hash     uint64   // of a checksum
	Sections []uint64 // of a checksum: those of the sections; nil if they are left out

	State []byte // canonical bytes; of a single line, a part of them
	More  bool   // of a single line: another part follows

	Topic, Text string // of a note

	Sequence uint32 // of a command, from 1 upwards
	Kind     uint16
	Payload  []byte
}

// An entryLine has all fields that a line after the header may have.
type entryLine struct {
	Tick     *uint32   `json:"t"`
	Player   *uint8    `json:"p"`
	Sum      *string   `json:"sum"`
	Sections *[]string `json:"sections"`
	State    *octets   `json:"state"`
	More     bool      `json:"more"`
	Sequence *uint32   `json:"s"`
	Kind     *uint16   `json:"k"`
	Payload  *octets   `json:"d"`
	Topic    *string   `json:"note"`
	Text     *string   `json:"text"`
	End      bool      `json:"end"`
}

// octets are bytes in base64, of which there is one form only.
type octets []byte

// UnmarshalText implements [encoding.TextUnmarshaler].
func (o *octets) UnmarshalText(text []byte) (err error) {
	*o, err = base64.StdEncoding.Strict().AppendDecode([]byte{}, text)
	return err
}

// parseEntry is ParseEntry of any line.
func (h *Header) parseEntry(line []byte) (e Entry, end bool, err error) {
	var l entryLine
	if err := decode(line, &l); err != nil {
		return e, false, err
	}
	isCommand := l.Sequence != nil || l.Kind != nil || l.Payload != nil
	isNote := l.Topic != nil || l.Text != nil
	isSum := l.Sum != nil || l.Sections != nil
	isState := l.State != nil || l.More
	complete := (!isCommand || l.Sequence != nil && l.Kind != nil && l.Payload != nil) && (!isNote || l.Topic != nil && l.Text != nil) &&
		(!isSum || l.Sum != nil) && (!isState || l.State != nil)
	seated := l.Player != nil && *l.Player < h.Players
	switch {
	case l.Tick == nil:
		return e, false, fmt.Errorf("want a tick")
	case *l.Tick > maxTick:
		return e, false, fmt.Errorf("got tick %d, want at most %d", *l.Tick, maxTick)
	case l.End && (isCommand || isNote || isSum || isState || l.Player != nil):
		return e, false, fmt.Errorf("want nothing but a tick in the last line")
	case l.End:
		return Entry{Tick: *l.Tick}, true, nil
	case !seated && !(isNote && l.Player == nil):
		return e, false, fmt.Errorf("want a player from 0 to %d", h.Players-1)
	case count(isCommand, isSum, isState, isNote) != 1 || !complete:
		return e, false, fmt.Errorf("want either a command, a checksum, a state or a note")
	}
	e = Entry{Tick: *l.Tick, Player: Nobody}
	if l.Player != nil {
		e.Player = *l.Player
	}
	switch {
	case isCommand:
		e.Sequence, e.Kind, e.Payload = *l.Sequence, *l.Kind, *l.Payload
	case isNote:
		e.Topic, e.Text = *l.Topic, *l.Text
		if e.Topic == "" || len(e.Topic) > maxName || len(e.Text) > maxText {
			err = fmt.Errorf("got a note with a topic of %d and a text of %d bytes, want 1 to %d and at most %d", len(e.Topic), len(e.Text), maxName, maxText)
		}
	case isState:
		e.Dump, e.State, e.More = true, *l.State, l.More
		if h.Schema == nil {
			err = fmt.Errorf("got a state, but the header has no type of it")
		}
	default:
		err = h.sums(&e, &l)
	}
	return e, false, err
}

// sums sets the checksums of a line.
func (h *Header) sums(e *Entry, l *entryLine) (err error) {
	e.Checksum = true
	if e.Hash, err = parseSum(*l.Sum); err != nil || l.Sections == nil {
		return err
	}
	if got, want := len(*l.Sections), len(h.Sections); got != want {
		return fmt.Errorf("got checksums of %d sections, want %d as in the header", got, want)
	}
	e.Sections = make([]uint64, len(h.Sections))
	for i, text := range *l.Sections {
		if e.Sections[i], err = parseSum(text); err != nil {
			return err
		}
	}
	return nil
}

func parseSum(text string) (uint64, error) {
	sum, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("got checksum %.40q, want 16 hexadecimal digits", text)
	}
	return sum, nil
}

// count returns how many of its arguments are true.
func count(all ...bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}
