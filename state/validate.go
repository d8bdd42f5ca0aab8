package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Validate checks that b is the canonical form of a value, as [Codec.Decode] does. It allocates nothing but its error, a [*DecodeError].
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

var (
	// ErrBool reports a bool whose byte is neither 0 nor 1.
	ErrBool = errors.New("a bool is neither 0 nor 1")
	// ErrTrailing reports bytes after the end of the value.
	ErrTrailing = errors.New("bytes after the end of the value")
)

// DecodeError tells where bytes are not the canonical form of a schema.
type DecodeError struct {
	Path   string // the field, such as "Units[17].Alive"; "" is the whole value
	Offset int    // of the first wrong or missing byte
	Err    error  // wraps io.ErrUnexpectedEOF, ErrBool or ErrTrailing
}

func (e *DecodeError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("state: malformed at byte %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("state: malformed %s at byte %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *DecodeError) Unwrap() error { return e.Err }

func (e *DecodeError) in(step string) *DecodeError {
	e.Path = joinPath(step, e.Path)
	return e
}

// explain validates node i at b[at:] and returns the offset after it.
func (s *Schema) explain(i int, b []byte, at int) (int, *DecodeError) {
	n := &s.nodes[i]
	if n.fixed && len(b)-at >= n.size {
		if !n.bools || s.orBools(n, i, b[at:at+n.size]) <= 1 {
			return at + n.size, nil
		}
		if n.kind == Bool {
			return at, &DecodeError{"", at, fmt.Errorf("%w: %d", ErrBool, b[at])}
		}
	} // otherwise descend to the field at fault
	switch n.kind {
	case Struct:
		for _, f := range s.fieldsOf(n) {
			end, err := s.explain(int(f), b, at)
			if err != nil {
				return at, err.in(s.nodes[f].name)
			}
			at = end
		}
		return at, nil
	case Array:
		return s.explainElems(i, n.count, b, at)
	case String, Slice:
		count, err := s.explainCount(i, b, at)
		if err != nil || n.kind == String {
			return at + countSize + count, err
		}
		return s.explainElems(i, count, b, at+countSize)
	}
	return at, &DecodeError{"", at, fmt.Errorf("%w: %d bytes, want %d", io.ErrUnexpectedEOF, len(b)-at, n.size)}
}

// explainCount reads the count of a string or slice and checks that enough bytes follow it.
func (s *Schema) explainCount(i int, b []byte, at int) (int, *DecodeError) {
	left := len(b) - at
	if left < countSize {
		return 0, &DecodeError{"", at, fmt.Errorf("%w: %d bytes, want a count of %d", io.ErrUnexpectedEOF, left, countSize)}
	}
	left -= countSize
	count, size := binary.LittleEndian.Uint32(b[at:]), 1
	if s.nodes[i].kind == Slice {
		size = s.nodes[i+1].size
	}
	if uint64(count)*uint64(size) > uint64(left) { // at most 2^32 * 2^30
		return 0, &DecodeError{"", at, fmt.Errorf("%w: a count of %d, at least %d bytes each, %d bytes are left", io.ErrUnexpectedEOF, count, size, left)}
	}
	return int(count), nil
}

func (s *Schema) explainElems(i, count int, b []byte, at int) (int, *DecodeError) {
	for j := range count {
		end, err := s.explain(i+1, b, at)
		if err != nil {
			return at, err.in(indexStep(j))
		}
		at = end
	}
	return at, nil
}
