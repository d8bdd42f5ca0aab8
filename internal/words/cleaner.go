package words

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Cleaner is a Writer that escapes control characters, except for line feeds and tabs, and characters that change the
// direction of text, so that a name in a hostile file can neither control the terminal nor look like another. It writes
// \u and four hex digits, which mean the same inside a JSON string.
type Cleaner struct {
	w    io.Writer
	buf  []byte
	held []byte // the possible beginning of such a character
	err  error
}

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// Unwrap returns the Writer below, which takes everything.
func (c *Cleaner) Unwrap() io.Writer { return c.w }

// Err returns the first error of the Writer below.
func (c *Cleaner) Err() error { return c.err }

// Write writes p, except for bytes at its end that may begin an escaped character, which it keeps for the next call.
// The first error stays.
func (c *Cleaner) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.buf = c.buf[:0]
	for _, b := range p {
		if c.held = append(c.held, b); begins(c.held) {
			continue
		}
		if r, _ := utf8.DecodeRune(c.held); escaped(r) {
			c.buf = fmt.Appendf(c.buf, `\u%04x`, r)
			c.held = c.held[:0]
			continue
		}
		last := len(c.held) - 1
		c.buf = append(c.buf, c.held[:last]...)
		if c.held = append(c.held[:0], b); begins(c.held) {
			continue
		}
		c.held = c.held[:0]
		if b < ' ' && b != '\n' && b != '\t' || b == 0x7f {
			c.buf = fmt.Appendf(c.buf, `\u%04x`, b)
			continue
		}
		c.buf = append(c.buf, b)
	}
	if _, c.err = c.w.Write(c.buf); c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}

// begins reports whether b may be the beginning of a character that is escaped.
func begins(b []byte) bool {
	return slices.Contains([]string{"\xc2", "\xd8", "\xe2", "\xe2\x80", "\xe2\x81"}, string(b))
}

// escaped reports whether a character beyond ASCII is a control character or changes the direction of text.
func escaped(r rune) bool { return r >= 0x80 && unicode.In(r, unicode.Cc, unicode.Bidi_Control) }
