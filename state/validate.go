package state

import (
	"encoding/binary"
	"fmt"
)

// Validate checks that b is the canonical form of a value. It accepts exactly what [Codec.Decode] accepts, and allocates
// nothing but its error, a [*DecodeError].
func (s *Schema) Validate(b []byte) error {
	if s.check(0, b, 0) == len(b) {
		return nil
	}
	end, err := s.explain(0, b, 0)
	if err == nil {
		err = &DecodeError{"", end, fmt.Errorf("%w: %d of them", ErrTrailing, len(b)-end)}
	}
	return err
}

// check validates node i at b[at:] and returns the offset after it, or -1 if the bytes are malformed.
func (s *Schema) check(i int, b []byte, at int) int {
	n := &s.nodes[i]
	left := len(b) - at
	if left < n.size {
		return -1
	}
	if n.fixed {
		if n.bools && s.orBools(n, i, b[at:at+n.size]) > 1 {
			return -1
		}
		return at + n.size
	}
	switch n.kind {
	case Struct:
		return s.checkRuns(n, b, at)
	case Array:
		return s.checkElems(i, n.count, b, at)
	}
	count, size := binary.LittleEndian.Uint32(b[at:]), 1
	if n.kind == Slice {
		size = s.nodes[i+1].size
	}
	at += countSize
	if uint64(count)*uint64(size) > uint64(left-countSize) { // at most 2^32 * 2^30
		return -1
	}
	if n.kind == String {
		return at + int(count)
	}
	return s.checkElems(i, int(count), b, at)
}

// checkElems validates count elements of the array or slice i. If they are fixed, b must be long enough.
func (s *Schema) checkElems(i, count int, b []byte, at int) int {
	elem := &s.nodes[i+1]
	if elem.fixed {
		end := at + count*elem.size
		if elem.bools && s.orBoolsOf(elem, i+1, b[at:end]) > 1 {
			return -1
		}
		return end
	}
	for j := 0; j < count && at >= 0; j++ {
		at = s.check(i+1, b, at)
	}
	return at
}

// checkRuns validates struct n, which is not fixed.
func (s *Schema) checkRuns(n *node, b []byte, at int) int {
	for k := range n.runs {
		r := &n.runs[k]
		if len(b)-at < r.size {
			return -1
		}
		or := byte(0)
		for _, offset := range r.boolAt {
			or |= b[at+offset]
		}
		if or > 1 {
			return -1
		}
		at += r.size
		if r.next >= 0 {
			if at = s.check(r.next, b, at); at < 0 {
				return -1
			}
		}
	}
	return at
}

// orBools returns the bitwise or of all bools in one value of the fixed node i: more than 1 if one is malformed.
func (s *Schema) orBools(n *node, i int, b []byte) (or byte) {
	switch {
	case n.boolAt != nil:
		for _, offset := range n.boolAt {
			or |= b[offset]
		}
	case n.kind == Array:
		return s.orBoolsOf(&s.nodes[i+1], i+1, b)
	case n.kind == Struct:
		at := 0
		for _, f := range s.fieldsOf(n) {
			field := &s.nodes[f]
			if field.bools {
				or |= s.orBools(field, int(f), b[at:at+field.size])
			}
			at += field.size
		}
	}
	return or
}

// orBoolsOf is orBools for values of node i that fill b.
func (s *Schema) orBoolsOf(n *node, i int, b []byte) (or byte) {
	if n.boolAt == nil {
		for at := 0; at < len(b); at += n.size {
			or |= s.orBools(n, i, b[at:at+n.size])
		}
		return or
	}
	for _, offset := range n.boolAt {
		for at := offset; at < len(b); at += n.size {
			or |= b[at]
		}
	}
	return or
}
