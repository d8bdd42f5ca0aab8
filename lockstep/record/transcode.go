package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/state"
)

// A payload has two forms: the canonical bytes of package state, for Go values, dumps and differences, and MessagePack,
// which is smaller, for log and network. The functions here convert one into the other by the schema alone. A struct is
// an array of its fields. Arrays and slices are arrays, or byte strings if their elements are bytes.

// pack writes the value of n that b begins with, and returns the rest of b.
func (p *Payloads) pack(n state.Node, b []byte) []byte {
	w := &p.writer
	switch k := n.Kind(); k {
	case state.Bool:
		w.Bool(b[0] != 0)
		return b[1:]
	case state.String:
		size := int(binary.LittleEndian.Uint32(b))
		text := b[4 : 4+size]
		if !utf8.Valid(text) {
			p.unreadable = n.Path()
		}
		w.String(string(text))
		return b[4+size:]
	case state.Array:
		return p.packElems(n.Elem(), n.Len(), b)
	case state.Slice:
		return p.packElems(n.Elem(), int(binary.LittleEndian.Uint32(b)), b[4:])
	case state.Struct:
		w.Array(n.NumFields())
		for i := range n.NumFields() {
			b = p.pack(n.Field(i), b)
		}
		return b
	default:
		size, _ := n.Size()
		v := loadUint(b[:size])
		if k.Signed() {
			shift := 64 - 8*size
			w.Int(int64(v<<shift) >> shift)
		} else {
			w.Uint(v)
		}
		return b[size:]
	}
}

func (p *Payloads) packElems(elem state.Node, count int, b []byte) []byte {
	if elem.Kind() == state.Uint8 {
		p.writer.Binary(b[:count])
		return b[count:]
	}
	p.writer.Array(count)
	for range count {
		b = p.pack(elem, b)
	}
	return b
}

func loadUint(b []byte) (v uint64) {
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// unpackNode appends the canonical bytes of the value of n that r reads next. If r fails, it returns the path of the
// field that was read then.
func unpackNode(r *pack.Reader, dst []byte, n state.Node) ([]byte, string) {
	switch k := n.Kind(); k {
	case state.Bool:
		var v byte
		if r.Bool() {
			v = 1
		}
		dst = append(dst, v)
	case state.String:
		s := r.String(MaxPayload)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
		dst = append(dst, s...)
	case state.Array:
		return unpackElems(r, dst, n, n.Len(), n.Len())
	case state.Slice:
		return unpackElems(r, dst, n, 0, MaxPayload)
	case state.Struct:
		if r.Array(n.NumFields(), n.NumFields()); r.Err() != nil {
			return dst, n.Path()
		}
		for i := range n.NumFields() {
			var wrong string
			if dst, wrong = unpackNode(r, dst, n.Field(i)); wrong != "" {
				return dst, wrong
			}
		}
	default:
		size, _ := n.Size()
		bits := 8 * size
		var v uint64
		if k.Signed() {
			v = uint64(r.Int(math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits)))
		} else {
			v = r.Uint(math.MaxUint64 >> (64 - bits))
		}
		for i := range size {
			dst = append(dst, byte(v>>(8*i)))
		}
	}
	if r.Err() != nil {
		return dst, n.Path()
	}
	return dst, ""
}

// unpackElems is unpackNode for an array or slice of min to max elements.
func unpackElems(r *pack.Reader, dst []byte, n state.Node, min, max int) ([]byte, string) {
	elem := n.Elem()
	if elem.Kind() == state.Uint8 {
		p := r.Binary(max)
		if len(p) < min {
			r.Fail("got %d bytes, want %d", len(p), min)
		}
		if n.Kind() == state.Slice {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p)))
		}
		dst = append(dst, p...)
	} else {
		count := r.Array(min, max)
		if n.Kind() == state.Slice {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
		}
		for range count {
			var wrong string
			if dst, wrong = unpackNode(r, dst, elem); wrong != "" {
				return dst, wrong
			}
		}
	}
	if r.Err() != nil {
		return dst, n.Path()
	}
	return dst, ""
}

// unpack appends the canonical bytes of a payload. It accepts only what pack writes. An error has the field's path.
func unpack(r *pack.Reader, dst []byte, s *state.Schema, payload []byte) ([]byte, error) {
	r.Reset(payload)
	dst, wrong := unpackNode(r, dst, s.Root())
	err := r.End()
	switch {
	case err == nil:
		return dst, nil
	case wrong != "":
		return dst, fmt.Errorf("field %s: %w: %w", wrong, ErrMalformed, err)
	}
	return dst, fmt.Errorf("%w: %w", ErrMalformed, err)
}

// AppendCanonical appends the canonical bytes of a payload's value, see package state. The error wraps [ErrMalformed]
// if the payload is not the MessagePack form of a value of the schema.
func AppendCanonical(dst []byte, s *state.Schema, payload []byte) ([]byte, error) {
	var r pack.Reader
	return unpack(&r, dst, s, payload)
}

// AppendPayload appends the payload of a value in canonical bytes, see package state: it is the inverse of
// [AppendCanonical]. The bytes are valid for the schema. A string that is not UTF-8 makes a payload that is malformed.
func AppendPayload(dst []byte, s *state.Schema, canonical []byte) []byte {
	var p Payloads
	p.writer.Begin(dst)
	p.pack(s.Root(), canonical)
	return p.writer.Bytes()
}
