package matchlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a match.
const (
	maxLine    = 1 << 20 // bytes
	maxSeats   = 250
	maxTick    = 1<<24 - 1 // nine days of 20 ticks a second
	MaxEntries = 1 << 20   // forty times those of the longest match that we have seen
	maxBytes   = 256 << 20 // of all lines, uncompressed
	maxKinds   = 4096      // of commands, as in a replay's header
	maxRate    = 1000      // ticks a second
	maxNumber  = 32        // bytes of a number that is kept as text
	maxTopic   = 128       // bytes, as in a note of a replay
	maxText    = 1024
)

// ErrMalformed is wrapped by every error about the content of a line. The error of a file
// without its last line also wraps io.ErrUnexpectedEOF. An error of reading the file does
// not wrap it.
var ErrMalformed = errors.New("malformed match")

// A Header is the first line.
type Header struct {
	Title    string
	TickRate uint16 // ticks per second, rounded, at least 1
	Rate     string // the text of a rate that is not a whole number; else ""
	Players  uint8
}

// Nobody is the player of a note of the match.
const Nobody = 255

// An Entry is a command, a reported checksum, or a note.
type Entry struct {
	Tick     uint32
	Player   uint8
	Checksum bool // else it is a note if it has a Topic, or a command

	Hash uint64 // of a checksum

	Topic, Text string // of a note

	Sequence uint32 // of a command, from 1 upwards
	Kind     uint16
	Payload  []byte
}

// A Reader reads one match. Its first error stays.
type Reader struct {
	Header Header

	in    *io.LimitedReader // of all lines
	lines *bufio.Scanner
	line  int
	count int    // of entries
	tick  uint32 // the latest one
	err   error

	kinds [(math.MaxUint16 + 1) / 64]uint64 // of commands, a bit for each
	named int                               // of them
}

// NewReader reads the header. It detects whether r is compressed.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReader(r)
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("matchlog: %w: %w", ErrMalformed, err)
		}
		b = bufio.NewReader(z)
	}
	in := &io.LimitedReader{R: b, N: maxBytes + 1}
	m := &Reader{in: in, lines: bufio.NewScanner(in)}
	m.lines.Buffer(nil, maxLine)
	var h struct {
		Log      int             `json:"log"`
		Title    string          `json:"title"`
		TickRate json.RawMessage `json:"tick_rate_hz"`
		Players  uint8           `json:"players"`
	}
	if err := m.next(&h); err != nil {
		return nil, err
	}
	if h.Log != 1 {
		return nil, m.malformed("got version %d, want 1", h.Log)
	}
	if h.Players < 1 || h.Players > maxSeats {
		return nil, m.malformed("got %d players, want 1 to %d", h.Players, maxSeats)
	}
	m.Header = Header{Title: h.Title, Players: h.Players}
	if !m.Header.setRate(string(h.TickRate)) {
		return nil, m.malformed("got %.40q ticks a second, want a number above 0, at most %d, of at most %d digits", h.TickRate, maxRate, maxNumber)
	}
	return m, nil
}

// setRate sets the tick rate and reports whether it is valid.
func (h *Header) setRate(text string) bool {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxNumber || !(rate > 0 && rate <= maxRate) {
		return false
	}
	h.TickRate = uint16(max(math.Round(rate), 1))
	if rate != float64(h.TickRate) {
		h.Rate = text
	}
	return true
}

// Next returns the next entry, and io.EOF after the last.
func (m *Reader) Next() (Entry, error) {
	if m.err != nil {
		return Entry{}, m.err
	}
	e, err := m.entry()
	if err != nil {
		m.err = err
		return Entry{}, err
	}
	return e, nil
}

// Ticks returns the number of ticks of the match, once Next has returned io.EOF.
func (m *Reader) Ticks() uint32 { return m.tick }

func (m *Reader) entry() (Entry, error) {
	var l struct {
		Tick     *uint32 `json:"t"`
		Player   *uint8  `json:"p"`
		Sum      *string `json:"sum"`
		Sequence *uint32 `json:"s"`
		Kind     *uint16 `json:"k"`
		Payload  *[]byte `json:"d"`
		Topic    *string `json:"note"`
		Text     *string `json:"text"`
		End      bool    `json:"end"`
	}
	if err := m.next(&l); err != nil {
		return Entry{}, err
	}
	isCommand := l.Sequence != nil || l.Kind != nil || l.Payload != nil
	isNote := l.Topic != nil || l.Text != nil
	complete := (!isCommand || l.Sequence != nil && l.Kind != nil && l.Payload != nil) && (!isNote || l.Topic != nil && l.Text != nil)
	player, seated := uint8(Nobody), false
	if l.Player != nil {
		player, seated = *l.Player, *l.Player < m.Header.Players
	}
	switch {
	case l.Tick == nil || *l.Tick < m.tick && l.Sum == nil:
		return Entry{}, m.malformed("want a tick from %d on", m.tick)
	case *l.Tick > maxTick:
		return Entry{}, m.malformed("got tick %d, want at most %d", *l.Tick, maxTick)
	case l.End && (isCommand || isNote || l.Player != nil || l.Sum != nil):
		return Entry{}, m.malformed("want nothing but a tick in the last line")
	case l.End:
		m.tick = *l.Tick
		if m.lines.Scan() {
			return Entry{}, m.malformed("a line after the last")
		}
		return Entry{}, io.EOF
	case !seated && !(isNote && l.Player == nil):
		return Entry{}, m.malformed("want a player from 0 to %d", m.Header.Players-1)
	case count(isCommand, l.Sum != nil, isNote) != 1 || !complete:
		return Entry{}, m.malformed("want either a command, a checksum or a note")
	case isNote && (*l.Topic == "" || len(*l.Topic) > maxTopic || len(*l.Text) > maxText):
		return Entry{}, m.malformed("got a note with a topic of %d and a text of %d bytes, want 1 to %d and at most %d", len(*l.Topic), len(*l.Text), maxTopic, maxText)
	}
	if m.count++; m.count > MaxEntries {
		return Entry{}, m.malformed("want at most %d commands, checksums and notes", MaxEntries)
	}
	if isCommand && !m.name(*l.Kind) {
		return Entry{}, m.malformed("got more than %d kinds of commands", maxKinds)
	}
	m.tick = max(m.tick, *l.Tick)
	if isNote {
		return Entry{Tick: *l.Tick, Player: player, Topic: *l.Topic, Text: *l.Text}, nil
	}
	if isCommand {
		return Entry{Tick: *l.Tick, Player: player, Sequence: *l.Sequence, Kind: *l.Kind, Payload: *l.Payload}, nil
	}
	hash, err := strconv.ParseUint(*l.Sum, 16, 64)
	if err != nil || len(*l.Sum) != 16 {
		return Entry{}, m.malformed("got checksum %.40q, want 16 hexadecimal digits", *l.Sum)
	}
	return Entry{Tick: *l.Tick, Player: player, Checksum: true, Hash: hash}, nil
}

// name counts a kind of commands and reports whether a replay's header has room for it.
func (m *Reader) name(kind uint16) bool {
	word, bit := &m.kinds[kind/64], uint64(1)<<(kind%64)
	if *word&bit == 0 {
		*word |= bit
		m.named++
	}
	return m.named <= maxKinds
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

// next decodes the next line into l, which has all fields that the line may have.
func (m *Reader) next(l any) error {
	m.line++
	more := m.lines.Scan()
	if m.in.N == 0 { // a compressed file of a few MB can have thousands of MB
		return m.malformed("more than %d bytes of lines", maxBytes)
	}
	if !more {
		var unread *fs.PathError
		if err := m.lines.Err(); errors.As(err, &unread) {
			return fmt.Errorf("matchlog: line %d: %w", m.line, err)
		} else if err != nil {
			return m.malformed("%v", err)
		}
		return fmt.Errorf("matchlog: line %d: %w: %w: no last line", m.line, ErrMalformed, io.ErrUnexpectedEOF)
	}
	if !utf8.Valid(m.lines.Bytes()) {
		return m.malformed("got bytes that are not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(m.lines.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return m.undecoded(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return m.malformed("more than one value")
	}
	return m.fields()
}

// undecoded returns why a line cannot be decoded.
func (m *Reader) undecoded(err error) error {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return m.malformed("%.200v", err) // the text may contain the name of a field
	}
	want := "a text"
	switch kind := other.Type.Kind(); kind {
	case reflect.Struct:
		return m.malformed("got %.40s, want an object", other.Value)
	case reflect.Bool:
		want = "true"
	case reflect.Int:
		want = "a whole number"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		want = fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<other.Type.Bits()-1)
	}
	return m.malformed("got %.40s for the field %q, want %s", other.Value, other.Field, want)
}

// fields makes the checks that encoding/json does not: it ignores the case of names, uses
// the last of two equal names, and accepts null.
func (m *Reader) fields() error {
	d := json.NewDecoder(bytes.NewReader(m.lines.Bytes()))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return m.malformed("%.200v", err)
	}
	seen := make([]string, 0, 8)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return m.malformed("%.200v", err)
		}
		value, err := d.Token()
		if err != nil {
			return m.malformed("%.200v", err)
		}
		field, _ := name.(string)
		_, nested := value.(json.Delim)
		switch {
		case strings.Trim(field, "abcdefghijklmnopqrstuvwxyz_") != "":
			return m.malformed("got a field %.40q, want its name in lower case", field)
		case slices.Contains(seen, field):
			return m.malformed("got the field %q twice", field)
		case value == nil || nested || value == false:
			return m.malformed("got %v for the field %q, want another value or no such field", value, field)
		}
		seen = append(seen, field)
	}
	return nil
}

func (m *Reader) malformed(format string, args ...any) error {
	return fmt.Errorf("matchlog: line %d: %w: %s", m.line, ErrMalformed, fmt.Sprintf(format, args...))
}
