package main

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// A cleaner is a Writer that lets no control character through but line feeds
// and tabs, nor one that changes the direction of text: a name in a hostile file
// must not steer the terminal, nor show itself as another. Instead it writes \u and
// four hex digits, which inside of a JSON string means the same.
type cleaner struct {
	w    io.Writer
	buf  []byte
	held []byte // the beginning of what may be such a character
	err  error
}

// Write writes p. Bytes at its end that may begin a character that is not let
// through are kept until the next call. The first error stays.
func (c *cleaner) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.buf = c.buf[:0]
	for _, b := range p {
		if c.held = append(c.held, b); begins(c.held) {
			continue
		}
		if r, _ := utf8.DecodeRune(c.held); steers(r) {
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

// begins reports whether b may be the beginning of a character that steers.
func begins(b []byte) bool {
	switch string(b) {
	case "\xc2", "\xd8", "\xe2", "\xe2\x80", "\xe2\x81":
		return true
	}
	return false
}

// steers reports whether a character beyond ASCII is a control character, or changes
// the direction of text (Unicode's Bidi_Control).
func steers(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}
