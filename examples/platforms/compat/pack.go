//go:build !js

package compat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// maxInt is the largest number of the wire, and -maxInt the smallest: what a float64 holds exactly.
const maxInt = 1<<53 - 1

// Errors of messages of a client.
var (
	errShort  = errors.New("the message ends early")
	errNumber = errors.New("want an integer of at most 53 bits")
	errText   = errors.New("want a text")
	errList   = errors.New("want a list")
	errMap    = errors.New("want a map with texts as keys")
	errDeep   = errors.New("values are nested too deeply")
)

// A packer appends MessagePack with the smallest form of each number.
type packer struct{ b []byte }

func (p *packer) mapOf(n int) { p.header(n, 0x80, 0xde) }

func (p *packer) listOf(n int) { p.header(n, 0x90, 0xdc) }

// header appends the header of a map or list of up to 2^32-1 values.
func (p *packer) header(n int, fixed, long byte) {
	switch {
	case n < 16:
		p.b = append(p.b, fixed|byte(n))
	case n < 1<<16:
		p.b = binary.BigEndian.AppendUint16(append(p.b, long), uint16(n))
	default:
		p.b = binary.BigEndian.AppendUint32(append(p.b, long+1), uint32(n))
	}
}

func (p *packer) text(s string) {
	switch n := len(s); {
	case n < 32:
		p.b = append(p.b, 0xa0|byte(n))
	case n < 1<<8:
		p.b = append(p.b, 0xd9, byte(n))
	case n < 1<<16:
		p.b = binary.BigEndian.AppendUint16(append(p.b, 0xda), uint16(n))
	default:
		p.b = binary.BigEndian.AppendUint32(append(p.b, 0xdb), uint32(n))
	}
	p.b = append(p.b, s...)
}

func (p *packer) number(v int64) {
	switch {
	case v >= 0 && v < 1<<7:
		p.b = append(p.b, byte(v))
	case v >= 0 && v < 1<<8:
		p.b = append(p.b, 0xcc, byte(v))
	case v >= 0 && v < 1<<16:
		p.b = binary.BigEndian.AppendUint16(append(p.b, 0xcd), uint16(v))
	case v >= 0 && v < 1<<32:
		p.b = binary.BigEndian.AppendUint32(append(p.b, 0xce), uint32(v))
	case v >= 0:
		p.b = binary.BigEndian.AppendUint64(append(p.b, 0xcf), uint64(v))
	case v >= -32:
		p.b = append(p.b, byte(v))
	case v >= math.MinInt8:
		p.b = append(p.b, 0xd0, byte(v))
	case v >= math.MinInt16:
		p.b = binary.BigEndian.AppendUint16(append(p.b, 0xd1), uint16(v))
	case v >= math.MinInt32:
		p.b = binary.BigEndian.AppendUint32(append(p.b, 0xd2), uint32(v))
	default:
		p.b = binary.BigEndian.AppendUint64(append(p.b, 0xd3), uint64(v))
	}
}

// field appends a key and a number.
func (p *packer) field(key string, v int64) {
	p.text(key)
	p.number(v)
}

// An unpacker reads MessagePack from bytes that nobody has checked. Each length is compared with what is left before
// memory is taken for it. It keeps its first error.
type unpacker struct {
	b   []byte
	err error
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
	u.b = nil
}

// take returns the next n bytes, or nil.
func (u *unpacker) take(n uint64) []byte {
	if u.err != nil || n > uint64(len(u.b)) {
		u.fail(errShort)
		return nil
	}
	part := u.b[:n]
	u.b = u.b[n:]
	return part
}

// uint returns a number of n bytes.
func (u *unpacker) uint(n int) (v uint64) {
	for _, c := range u.take(uint64(n)) {
		v = v<<8 | uint64(c)
	}
	return v
}

// code returns the first byte of a value, and nil, which is no value's, after an error.
func (u *unpacker) code() byte {
	if b := u.take(1); b != nil {
		return b[0]
	}
	return 0xc1
}

// int reads an integer in any of its forms.
func (u *unpacker) int() int64 {
	switch c := u.code(); {
	case c < 0x80:
		return int64(c)
	case c >= 0xe0:
		return int64(int8(c))
	case c >= 0xcc && c <= 0xcf:
		if v := u.uint(1 << (c - 0xcc)); v <= maxInt {
			return int64(v)
		}
	case c >= 0xd0 && c <= 0xd3:
		n := 1 << (c - 0xd0)
		v := int64(u.uint(n)<<(64-8*n)) >> (64 - 8*n)
		if v >= -maxInt && v <= maxInt {
			return v
		}
	}
	u.fail(errNumber)
	return 0
}

// text reads a text in UTF-8.
func (u *unpacker) text() string {
	var n uint64
	switch c := u.code(); {
	case c >= 0xa0 && c < 0xc0:
		n = uint64(c & 31)
	case c >= 0xd9 && c <= 0xdb:
		n = u.uint(1 << (c - 0xd9))
	default:
		u.fail(errText)
	}
	b := u.take(n)
	if !utf8.Valid(b) {
		u.fail(errText)
		return ""
	}
	return string(b)
}

// count reads the header of a map or list, whose values have at least a number of bytes each.
func (u *unpacker) count(fixed, long byte, least int, wrong error) int {
	var n uint64
	switch c := u.code(); {
	case c&0xf0 == fixed:
		n = uint64(c & 15)
	case c == long || c == long+1:
		n = u.uint(2 << (c - long))
	default:
		u.fail(wrong)
	}
	if n*uint64(least) > uint64(len(u.b)) {
		u.fail(errShort)
		return 0
	}
	return int(n)
}

func (u *unpacker) mapLen() int { return u.count(0x80, 0xde, 2, errMap) }

func (u *unpacker) listLen() int { return u.count(0x90, 0xdc, 1, errList) }

// maxDepth is how deeply values of unknown keys may be nested.
const maxDepth = 16

// skip passes over a value of any type.
func (u *unpacker) skip(depth int) {
	if depth > maxDepth {
		u.fail(errDeep)
		return
	}
	if len(u.b) == 0 {
		u.fail(errShort)
		return
	}
	nested := 0
	switch c := u.b[0]; {
	case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
		u.take(1)
	case c < 0x90 || c == 0xde || c == 0xdf:
		nested = 2 * u.mapLen()
	case c < 0xa0 || c == 0xdc || c == 0xdd:
		nested = u.listLen()
	case c < 0xc0:
		u.take(1 + uint64(c&31))
	case c >= 0xc4 && c <= 0xc6: // bytes
		u.take(1)
		u.take(u.uint(1 << (c - 0xc4)))
	case c >= 0xc7 && c <= 0xc9: // an extension
		u.take(1)
		u.take(1 + u.uint(1<<(c-0xc7)))
	case c == 0xca || c == 0xcb: // a float
		u.take(1 + 4<<(c-0xca))
	case c >= 0xcc && c <= 0xcf:
		u.take(1 + 1<<(c-0xcc))
	case c >= 0xd0 && c <= 0xd3:
		u.take(1 + 1<<(c-0xd0))
	case c >= 0xd4 && c <= 0xd8: // a short extension
		u.take(2 + 1<<(c-0xd4))
	case c >= 0xd9 && c <= 0xdb:
		u.take(1)
		u.take(u.uint(1 << (c - 0xd9)))
	default:
		u.fail(fmt.Errorf("got a byte 0x%02x, which begins no value", c))
	}
	for range nested {
		if u.err == nil {
			u.skip(depth + 1)
		}
	}
}
