// Package matchlog reads matches of other engines in a neutral format: lines of JSON,
// optionally compressed with gzip.
//
//	{"log":1,"title":"…","tick_rate_hz":10,"players":8}    the first line
//	{"t":29,"p":1,"s":3,"k":12,"d":"AQAA…"}                a command: tick, player, sequence, kind, payload in base64
//	{"t":50,"p":1,"sum":"c126f8bd03a9a491"}                a checksum that a player reported for a tick
//	{"t":60,"gap":69}                                      nothing was recorded from tick 60 to tick 69
//	{"t":70,"p":1,"note":"chat","text":"gg"}               a note of a player, or without "p" of the match
//	{"t":70,"note":"phases","text":"move=… dice#2"}        phases and draws of a step
//	{"t":19000,"end":true}                                 the last line: the number of ticks
//
// docs/spec/recordings.md has all fields and limits. Commands and notes are in the order of ticks;
// a checksum may come later than its tick. A [Reader] returns them one by one:
//
//	r, err := matchlog.NewReader(file)
//	for {
//		e, err := r.Next() // io.EOF after the last line
//	}
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

	"github.com/seed-49bee653/samestep/state"
)

// ErrMalformed is wrapped by every error about the content of a line, but for [ErrUnsupported]. The error of a file
// without a whole header also wraps io.ErrUnexpectedEOF. An error of reading the file does
// not wrap it.
var ErrMalformed = errors.New("malformed match")

// Mark is the byte order mark, with which some programs begin a text.
const Mark = "\xef\xbb\xbf"

// A Reader reads one match. Its first error stays.
type Reader struct {
	Header Header

	in    *io.LimitedReader // of all lines
	lines *bufio.Scanner
	line  int
	cut   bool // the present line has no line end
	count int  // of entries
	sums  int  // of sections
	tick  uint32
	after uint32 // the first tick that a command may have: after a gap
	torn  bool
	err   error

	states States
	kinds  [(math.MaxUint16 + 1) / 64]uint64 // of commands, a bit for each
	named  int                               // of them
}

// NewReader reads the header. It detects whether r is compressed, and skips a byte order mark.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReader(r)
	if magic, err := b.Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, MalformedAt(1, err)
		}
		b = bufio.NewReader(z)
	}
	if mark, err := b.Peek(len(Mark)); err == nil && string(mark) == Mark {
		b.Discard(len(Mark))
	}
	in := &io.LimitedReader{R: b, N: maxBytes + 1}
	m := &Reader{in: in, lines: bufio.NewScanner(in)}
	m.lines.Buffer(nil, maxLine)
	m.lines.Split(func(data []byte, last bool) (int, []byte, error) {
		m.cut = last && bytes.IndexByte(data, '\n') < 0
		return bufio.ScanLines(data, last)
	})
	more, err := m.next()
	if err != nil {
		return nil, err
	}
	if !more || m.cut && !json.Valid(m.lines.Bytes()) {
		return nil, m.malformed(fmt.Errorf("%w: no whole header", io.ErrUnexpectedEOF))
	}
	m.Header, err = ParseHeader(m.lines.Bytes())
	m.states.Schema = m.Header.Schema
	return m, m.malformed(err)
}

// Next returns the next entry, and io.EOF after the last. It joins the parts of a state.
func (m *Reader) Next() (Entry, error) {
	var e Entry
	for m.err == nil {
		if e, m.err = m.entry(); m.err == nil && !e.More {
			return e, nil
		}
	}
	return Entry{}, m.err
}

// Ticks returns the number of ticks of the match, once Next has returned io.EOF.
func (m *Reader) Ticks() uint32 { return m.tick }

// Torn reports whether the match has no last line, or a cut one, once Next has returned io.EOF. Some commands of its last tick may be missing.
func (m *Reader) Torn() bool { return m.torn }

// entry returns the next line, and io.EOF for the last one and where the file ends early.
func (m *Reader) entry() (Entry, error) {
	more, err := m.next()
	if err != nil {
		return Entry{}, err
	}
	if more && m.empty() && m.lines.Scan() {
		return Entry{}, m.malformed(errEmpty)
	}
	if !more || m.empty() {
		m.torn = true
		return Entry{}, io.EOF
	}
	e, end, err := m.Header.ParseEntry(m.lines.Bytes())
	e.Line = m.line
	switch ordered := !e.Checksum && !e.Dump && !e.Order; {
	case err != nil:
	case ordered && e.Tick < m.tick:
		err = fmt.Errorf("want a tick from %d on", m.tick)
	case ordered && e.Topic == "" && e.Tick < m.after:
		err = fmt.Errorf("got tick %d, want one from %d on: after the gap", e.Tick, m.after)
	}
	if err == nil {
		err = m.states.Join(&e)
	}
	if err != nil && m.cut && !json.Valid(m.lines.Bytes()) {
		m.torn = true
		return Entry{}, io.EOF
	}
	if err != nil {
		return Entry{}, m.malformed(err)
	}
	m.tick = max(m.tick, e.Tick)
	if e.Gap {
		m.tick, m.after = max(m.tick, e.Until), e.Until+1
	}
	if end {
		if m.lines.Scan() {
			m.line++
			if !m.empty() || m.lines.Scan() {
				return Entry{}, m.malformed(errors.New("got a line after the end"))
			}
		}
		return Entry{}, io.EOF
	}
	return e, m.malformed(m.bound(&e))
}

// empty reports whether nothing is in the present line. As the last one of a file, it is no line.
func (m *Reader) empty() bool { return len(bytes.TrimSpace(m.lines.Bytes())) == 0 }

// bound returns an error if the match has too much of something.
func (m *Reader) bound(e *Entry) error {
	m.count++
	m.sums += len(e.Sections)
	switch {
	case m.count > MaxEntries:
		return fmt.Errorf("want at most %d commands, checksums, states and notes", MaxEntries)
	case m.sums > MaxSums:
		return fmt.Errorf("want at most %d checksums of sections", MaxSums)
	case e.Command() && !m.name(e.Kind):
		return fmt.Errorf("got more than %d kinds of commands", maxKinds)
	}
	return nil
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

// next goes to the next line, and returns false where the file ends, or a compressed stream is cut.
func (m *Reader) next() (bool, error) {
	m.line++
	more := m.lines.Scan()
	if m.in.N == 0 { // a compressed file of a few MB can have thousands of MB
		return false, m.malformed(fmt.Errorf("more than %d bytes of lines", maxBytes))
	}
	if err := m.lines.Err(); !more && err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
			return false, fmt.Errorf("matchlog: line %d: %w", m.line, err)
		}
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("got a line of more than %d bytes", maxLine)
		}
		return false, m.malformed(err)
	}
	return more, nil
}

func (m *Reader) malformed(err error) error { return MalformedAt(m.line, err) }

// MalformedAt adds a line to an error about it. It returns nil for nil.
func MalformedAt(line int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnsupported):
		return fmt.Errorf("matchlog: line %d: %w", line, err)
	}
	return fmt.Errorf("matchlog: line %d: %w: %w", line, ErrMalformed, err)
}

// MalformedAfter adds the tick after which a replay has a line to an error about it.
func MalformedAfter(tick uint32, err error) error {
	return fmt.Errorf("desync: a line after tick %d: %w: %w", tick, ErrMalformed, err)
}

// Lines reads the lines of a recording one by one, as a replay keeps them: the header first.
type Lines struct {
	Header *Header // nil before the first line

	states States
}

// Next reads a line. It returns nil for the header. The last part of a state becomes the whole one.
func (l *Lines) Next(line []byte) (*Entry, error) {
	if l.Header == nil {
		h, err := ParseHeader(line)
		if err == nil {
			l.Header, l.states.Schema = &h, h.Schema
		}
		return nil, err
	}
	e, _, err := l.Header.ParseEntry(line)
	if err == nil {
		err = l.states.Join(&e)
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// States joins the parts of the states in a match, and compares them with their schema.
type States struct {
	Schema *state.Schema

	dump  Entry              // the state of which parts are missing, if missing
	open  bool               // there is one
	known map[[2]uint32]bool // ticks and players
}

// Join takes the next entry. If that is the last part of a state, e becomes the whole state.
func (s *States) Join(e *Entry) error {
	if s.open && (!e.Dump || e.Tick != s.dump.Tick || e.Player != s.dump.Player) {
		return fmt.Errorf("want the next part of the state of tick %d of player %d", s.dump.Tick, s.dump.Player)
	}
	if !e.Dump {
		return nil
	}
	if len(s.dump.State)+len(e.State) > MaxState {
		return fmt.Errorf("the state of tick %d has more than %d bytes", e.Tick, MaxState)
	}
	if s.open || e.More {
		s.dump = Entry{Tick: e.Tick, Player: e.Player, State: append(s.dump.State, e.State...)}
	}
	if s.open = e.More; s.open {
		return nil
	}
	if s.dump.State != nil {
		e.State, s.dump = s.dump.State, Entry{}
	}
	return s.add(e)
}

// add takes a whole state.
func (s *States) add(e *Entry) error {
	if s.known == nil {
		s.known = make(map[[2]uint32]bool)
	}
	at := [2]uint32{e.Tick, uint32(e.Player)}
	switch {
	case s.known[at]:
		return fmt.Errorf("got a second state of tick %d of player %d", e.Tick, e.Player)
	case len(s.known) == maxStates:
		return fmt.Errorf("want at most %d states", maxStates)
	}
	s.known[at] = true
	if err := s.Schema.Validate(e.State); err != nil {
		return fmt.Errorf("the state of tick %d does not have the type in the header: %.300v", e.Tick, err)
	}
	return nil
}
