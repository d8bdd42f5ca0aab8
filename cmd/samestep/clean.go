package main

import (
	"fmt"
	"io"
)

// A cleaner is a Writer that lets no control character through but line feeds
// and tabs: a name in a hostile file must not steer the terminal. Instead it
// writes \u and four hex digits, which inside of a JSON string means the same.
type cleaner struct {
	w    io.Writer
	buf  []byte
	held bool // a byte 0xC2 waits for the one after it
	err  error
}

// Write writes p. A byte 0xC2 at its end, which may be the first half of a
// control character, is kept until the next call. The first error stays.
func (c *cleaner) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.buf = c.buf[:0]
	for _, b := range p {
		switch {
		case c.held && b >= 0x80 && b < 0xa0: // U+0080 to U+009F
			c.buf = fmt.Appendf(c.buf, `\u%04x`, b)
			c.held = false
			continue
		case c.held:
			c.buf = append(c.buf, 0xc2)
			c.held = false
		}
		switch {
		case b == 0xc2:
			c.held = true
		case b < ' ' && b != '\n' && b != '\t' || b == 0x7f:
			c.buf = fmt.Appendf(c.buf, `\u%04x`, b)
		default:
			c.buf = append(c.buf, b)
		}
	}
	if _, c.err = c.w.Write(c.buf); c.err != nil {
		return 0, c.err
	}
	return len(p), nil
}
