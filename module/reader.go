package module

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A reader reads a module in the binary format of WebAssembly, or a part of it. It keeps the first error.
type reader struct {
	rest []byte
	err  error
}

// fail keeps an error, and ends the input.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.fail("got %d bytes, want %d", len(r.rest), n)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// number reads an unsigned number of at most 31 bits.
func (r *reader) number() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > 1<<31-1 {
		r.fail("got a bad number")
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// skipNumber passes over a number of any size and sign.
func (r *reader) skipNumber() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("got a number of more than 10 bytes")
}

// signed reads a signed number of at most 64 bits.
func (r *reader) signed() (v int64) {
	for shift := 0; shift < 70; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail("got a number of more than 10 bytes")
	return 0
}

// below reads the number of something, of which there are n.
func (r *reader) below(what string, n int) {
	if i := r.number(); r.err == nil && i >= n {
		r.fail("got %s %d, want one below %d", what, i, n)
	}
}

// one reads a byte that has one of some values.
func (r *reader) one(what, of string) byte {
	b := r.byte()
	for i := range len(of) {
		if of[i] == b {
			return b
		}
	}
	r.fail("got %s %#x, want one of % #x", what, b, of)
	return 0
}

// pageBytes is the size of a page of memory in WebAssembly.
const pageBytes = 64 << 10

// Identifiers of sections.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
	sectionStart    = 8
	sectionElement  = 9
	sectionCode     = 10
	sectionData     = 11

	sectionDataCount = 12
)

// order is the order of the sections of a module.
var order = []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11}

// magic begins each module: four letters, and the version.
const magic = "\x00asm\x01\x00\x00\x00"

// sections are the sections of a module by their identifiers, and the custom one with names of functions.
type sections struct {
	bodies [13][]byte // nil if there is none
	names  []byte     // nil if there is none
	last   byte       // that was read; 0 at the beginning
}

// parseSections reads a module. Custom sections other than the names say nothing about how it runs, and are left out.
func parseSections(module []byte) (*sections, error) {
	if len(module) < len(magic) || string(module[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with the bytes of a WebAssembly module of version 1", ErrMalformed)
	}
	s := new(sections)
	r := &reader{rest: module[len(magic):]}
	for len(r.rest) > 0 {
		id := r.byte()
		s.add(r, id, r.bytes(r.number()))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, r.err)
	}
	return s, nil
}

func (s *sections) add(r *reader, id byte, body []byte) {
	switch {
	case r.err != nil:
	case id == sectionCustom:
		if name := (&reader{rest: body}); string(name.bytes(name.number())) == "name" {
			s.names = body
		}
	case int(id) >= len(s.bodies):
		r.fail("got section %d, want at most %d", id, len(s.bodies)-1)
	case s.bodies[id] != nil:
		r.fail("got section %d twice", id)
	case bytes.IndexByte(order, id) < bytes.IndexByte(order, s.last):
		r.fail("got section %d behind section %d", id, s.last)
	default:
		s.bodies[id], s.last = append([]byte{}, body...), id
	}
}

// append appends the module.
func (s *sections) append(dst []byte) []byte {
	dst = append(dst, magic...)
	for _, id := range order {
		if s.bodies[id] != nil {
			dst = appendSized(append(dst, id), s.bodies[id])
		}
	}
	if s.names != nil {
		dst = appendSized(append(dst, sectionCustom), s.names)
	}
	return dst
}

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// rewrite replaces the body of a section, if f returns no error.
func (s *sections) rewrite(id byte, f func(r *reader) []byte) error {
	r := &reader{rest: s.bodies[id]}
	body := f(r)
	if r.err != nil {
		return ofSection(id, r.err)
	}
	s.bodies[id] = body
	return nil
}

// lengthened returns the body of a section that is a list, with items before and behind it.
func lengthened(r *reader, before, behind [][]byte) []byte {
	n := 0
	if len(r.rest) > 0 {
		n = r.number()
	}
	out := binary.AppendUvarint(nil, uint64(n+len(before)+len(behind)))
	for _, b := range before {
		out = append(out, b...)
	}
	out = append(out, r.rest...)
	for _, b := range behind {
		out = append(out, b...)
	}
	return out
}

// ofSection returns the error of a section.
func ofSection(id byte, err error) error {
	if errors.Is(err, ErrImports) || errors.Is(err, ErrLimit) {
		return err
	}
	return fmt.Errorf("%w: section %d: %w", ErrMalformed, id, err)
}

func appendSigned(dst []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(dst, b)
		}
		dst = append(dst, b|0x80)
	}
}
