package matchlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

// An Entry is a command, a reported checksum, a state, a note, a gap, or the order of the players in a tick.
type Entry struct {
	Tick     uint32
	Player   uint8
	Checksum bool // else it is a state if Dump, a gap or an order if these are set, a note if it has a Topic, or a command
	Dump     bool
	Gap      bool // nothing was recorded from Tick to Until
	Order    bool // Hash is a sum of the order of the players in the commands of Tick

	Until uint32 // of a gap
	Line  int    // in the file, from 1 on; 0 for a single line

	Hash     uint64   // of a checksum: it, or a hash of a Long one
	Long     string   // a checksum of 32 hexadecimal digits; "" for one of 16
	Sections []uint64 // of a checksum: those of the sections; nil if they are left out

	State []byte // canonical bytes; of a single line, a part of them
	More  bool   // of a single line: another part follows

	Topic, Text string // of a note

	Sequence uint32 // of a command, from 1 upwards
	Kind     uint16
	Payload  []byte
}

// Command reports whether the entry is a command.
func (e *Entry) Command() bool {
	return !e.Checksum && !e.Dump && !e.Gap && !e.Order && e.Topic == ""
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
	Gap      *uint32   `json:"gap"`
	Order    *string   `json:"order"`
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
	ofMatch := l.Gap != nil || l.Order != nil // without a player
	complete := (!isCommand || l.Sequence != nil && l.Kind != nil && l.Payload != nil) && (!isNote || l.Topic != nil && l.Text != nil) &&
		(!isSum || l.Sum != nil) && (!isState || l.State != nil)
	seated := l.Player != nil && *l.Player < h.Players
	switch {
	case l.Tick == nil:
		return e, false, fmt.Errorf("want a tick")
	case *l.Tick > maxTick:
		return e, false, fmt.Errorf("got tick %d, want at most %d", *l.Tick, maxTick)
	case l.End && (isCommand || isNote || isSum || isState || ofMatch || l.Player != nil):
		return e, false, fmt.Errorf("want nothing but a tick in the last line")
	case l.End:
		return Entry{Tick: *l.Tick}, true, nil
	case ofMatch && l.Player != nil:
		return e, false, fmt.Errorf("want no player with a gap or an order")
	case !seated && !((isNote || ofMatch) && l.Player == nil):
		return e, false, fmt.Errorf("want a player from 0 to %d", h.Players-1)
	case count(isCommand, isSum, isState, isNote, l.Gap != nil, l.Order != nil) != 1 || !complete:
		return e, false, fmt.Errorf("want either a command, a checksum, a state, a note, a gap or an order")
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
	case l.Gap != nil:
		if e.Gap, e.Until = true, *l.Gap; e.Until < e.Tick || e.Until >= maxTick {
			err = fmt.Errorf("got a gap to tick %d, want its last tick, from %d to %d", e.Until, e.Tick, maxTick-1)
		}
	case l.Order != nil:
		e.Order = true
		e.Hash, err = parseSum(*l.Order)
	default:
		err = h.sums(&e, &l)
	}
	return e, false, err
}

func (h *Header) sums(e *Entry, l *entryLine) (err error) {
	e.Checksum = true
	if len(*l.Sum) == 32 {
		e.Hash, e.Long, err = parseLong(*l.Sum)
	} else {
		e.Hash, err = parseSum(*l.Sum)
	}
	if err != nil || l.Sections == nil {
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
		return 0, fmt.Errorf("got checksum %.40q, want 16 hexadecimal digits, or 32 for that of a state", text)
	}
	return sum, nil
}

// parseLong reads a checksum of 128 bits. A replay's record has no room for it, and has its hash.
func parseLong(text string) (hash uint64, long string, err error) {
	var sum [16]byte
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return 0, "", fmt.Errorf("got checksum %q, want 16 or 32 hexadecimal digits", text)
	}
	whole := sha256.Sum256(sum[:])
	return binary.LittleEndian.Uint64(whole[:]), hex.EncodeToString(sum[:]), nil
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

// ParseEntry reads a line after the header, without its line end. The last line is no Entry, but ends the match.
func (h *Header) ParseEntry(line []byte) (e Entry, end bool, err error) {
	line = bytes.Trim(line, " \t\r") // as encoding/json does, which takes ten times as long
	if e, ok := h.quickEntry(line); ok {
		return e, false, nil
	}
	return h.parseEntry(line)
}

// quickEntry reads a command, a checksum, a state or a note as recorders write them: without spaces, escapes and other characters
// than those of ASCII. It returns false for every other line, also for a malformed one: then encoding/json reads it, which
// takes ten times as long. Where it returns true, the result is the same.
func (h *Header) quickEntry(line []byte) (e Entry, ok bool) {
	q := quickLine{rest: line}
	const tick, player, sequence, kind, payload, sum, sections, dump, more, topic, text = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
	seen := 0
	if !q.take('{') {
		return e, false
	}
	for {
		name, field, n := q.text(), 0, uint64(0)
		if !q.take(':') {
			return e, false
		}
		switch string(name) {
		case "t":
			field, n = tick, q.number(maxTick)
			e.Tick = uint32(n)
		case "p":
			field, n = player, q.number(uint64(h.Players)-1)
			e.Player = uint8(n)
		case "s":
			field, n = sequence, q.number(1<<32-1)
			e.Sequence = uint32(n)
		case "k":
			field, n = kind, q.number(1<<16-1)
			e.Kind = uint16(n)
		case "d":
			field, e.Payload = payload, q.bytes()
		case "sum":
			field, e.Hash = sum, q.sum()
		case "sections":
			field, e.Sections = sections, q.sums(len(h.Sections))
		case "state":
			field, e.State = dump, q.bytes()
		case "more":
			field, e.More = more, q.isTrue()
		case "note":
			field, e.Topic = topic, string(q.text())
		case "text":
			field, e.Text = text, string(q.text())
		}
		if q.failed || field == 0 || seen&field != 0 {
			return Entry{}, false
		}
		seen |= field
		if !q.take(',') {
			break
		}
	}
	if !q.take('}') || len(q.rest) > 0 {
		return Entry{}, false
	}
	switch seen {
	case tick | player | sequence | kind | payload:
		return e, true
	case tick | player | sum, tick | player | sum | sections:
		e.Checksum = true
		return e, true
	case tick | player | dump, tick | player | dump | more:
		e.Dump = true
		return e, h.Schema != nil
	case tick | topic | text:
		e.Player = Nobody
		fallthrough
	case tick | player | topic | text:
		return e, e.Topic != "" && len(e.Topic) <= maxName && len(e.Text) <= maxText
	}
	return Entry{}, false
}

// A quickLine is the rest of a line. It is of no use any more after it has failed.
type quickLine struct {
	rest   []byte
	failed bool
}

func (q *quickLine) take(c byte) bool {
	if len(q.rest) == 0 || q.rest[0] != c {
		return false
	}
	q.rest = q.rest[1:]
	return true
}

// text reads a text without its quotes.
func (q *quickLine) text() []byte {
	if q.take('"') {
		for i, c := range q.rest {
			if c == '"' {
				text := q.rest[:i]
				q.rest = q.rest[i+1:]
				return text
			}
			if c < ' ' || c > '~' || c == '\\' {
				break
			}
		}
	}
	q.failed = true
	return nil
}

func (q *quickLine) number(most uint64) (n uint64) {
	at := 0
	for at < len(q.rest) && at < 11 && q.rest[at] >= '0' && q.rest[at] <= '9' {
		n = n*10 + uint64(q.rest[at]-'0')
		at++
	}
	if at == 0 || at > 1 && q.rest[0] == '0' || n > most {
		q.failed = true
	}
	q.rest = q.rest[at:]
	return n
}

// bytes reads a text in base64.
func (q *quickLine) bytes() []byte {
	text := q.text()
	b := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(b, text)
	q.failed = q.failed || err != nil
	return b[:n]
}

func (q *quickLine) sum() (sum uint64) {
	text := q.text()
	q.failed = q.failed || len(text) != 16
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			q.failed = true
		}
		sum = sum<<4 | uint64(c&15)
	}
	return sum
}

// sums reads a list of n checksums.
func (q *quickLine) sums(n int) []uint64 {
	q.failed = q.failed || n == 0 || !q.take('[')
	all := make([]uint64, 0, n)
	for !q.failed && len(all) < n {
		all = append(all, q.sum())
		end := byte(',')
		if len(all) == n {
			end = ']'
		}
		q.failed = q.failed || !q.take(end)
	}
	return all
}

func (q *quickLine) isTrue() bool {
	if len(q.rest) < 4 || string(q.rest[:4]) != "true" {
		q.failed = true
		return false
	}
	q.rest = q.rest[4:]
	return true
}
