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
)

// ErrMalformed is wrapped by every error about the content of a line, but for [ErrUnsupported]. The error of a file
// without a whole header also wraps io.ErrUnexpectedEOF. An error of reading the file does
// not wrap it.
var ErrMalformed = errors.New("malformed match")

// Mark is the byte order mark, with which some programs begin a text.
const Mark = "\xef\xbb\xbf"

// ErrUnsupported is wrapped by the error of a header of another version.
var ErrUnsupported = errors.New("this recording needs a newer samestep")

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
	if !more {
		m.torn = true
		return Entry{}, io.EOF
	}
	if m.empty() {
		if m.lines.Scan() {
			return Entry{}, m.malformed(errEmpty)
		}
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

// malformed adds the present line to an error.
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
