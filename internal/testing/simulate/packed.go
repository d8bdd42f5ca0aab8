package simulate

import (
	"encoding/binary"
	"errors"
)

// errPacked is returned for bytes that are not the MessagePack of records.
var errPacked = errors.New("simulate: not a record")

// A packed reads MessagePack. It shares no code with the engine that it checks.
type packed struct {
	b   []byte
	err error
}

// take returns the next n bytes.
func (p *packed) take(n int) []byte {
	if p.err != nil || n < 0 || len(p.b) < n {
		p.err = errPacked
		return make([]byte, min(max(n, 0), 8))
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

// number reads a big-endian number of size bytes.
func (p *packed) number(size int) uint64 {
	var b [8]byte
	copy(b[8-size:], p.take(size))
	return binary.BigEndian.Uint64(b[:])
}

// uint reads an unsigned number.
func (p *packed) uint() uint64 {
	switch c := p.take(1)[0]; {
	case c < 0x80:
		return uint64(c)
	case c >= 0xcc && c <= 0xcf:
		return p.number(1 << (c - 0xcc))
	}
	p.err = errPacked
	return 0
}

// array reads an array's length.
func (p *packed) array() int {
	switch c := p.take(1)[0]; {
	case c&0xf0 == 0x90:
		return int(c & 0x0f)
	case c == 0xdc:
		return int(p.number(2))
	case c == 0xdd:
		return int(min(p.number(4), 1<<24))
	}
	p.err = errPacked
	return 0
}

// bytes reads a byte string or a text.
func (p *packed) bytes() []byte {
	switch c := p.take(1)[0]; {
	case c&0xe0 == 0xa0:
		return p.take(int(c & 0x1f))
	case c >= 0xc4 && c <= 0xc6:
		return p.take(int(p.number(1 << (c - 0xc4))))
	case c >= 0xd9 && c <= 0xdb:
		return p.take(int(p.number(1 << (c - 0xd9))))
	}
	p.err = errPacked
	return nil
}

// skip skips one value.
func (p *packed) skip() {
	if len(p.b) == 0 {
		p.err = errPacked
		return
	}
	switch c := p.b[0]; {
	case c < 0x80, c == 0xc2, c == 0xc3:
		p.take(1)
	case c >= 0xcc && c <= 0xcf:
		p.uint()
	case c&0xf0 == 0x90, c == 0xdc, c == 0xdd:
		for range p.array() {
			if p.err != nil {
				return
			}
			p.skip()
		}
	default:
		p.bytes()
	}
}

// first returns the first value of b, an array, and the rest.
func first(b []byte) (value, rest []byte, err error) {
	p := packed{b: b}
	p.skip()
	return b[:len(b)-len(p.b)], p.b, p.err
}
