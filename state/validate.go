package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var (
	// ErrBool means that a bool's byte is neither 0 nor 1.
	ErrBool = errors.New("a bool is neither 0 nor 1")
	// ErrTrailing means that there are bytes after the end of the value.
	ErrTrailing = errors.New("bytes after the end of the value")
)

// DecodeError says where bytes stop being the canonical form of a schema.
type DecodeError struct {
	Path   string // the field, such as "Units[17].Alive"; "" is the whole value
	Offset int    // of the first byte that is wrong or missing
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

// in puts a step before the path of an error that comes from within.
func (e *DecodeError) in(step string) *DecodeError {
	e.Path = joinPath(step, e.Path)
	return e
}

// Validate checks that b is the canonical form of a value: exactly what [Codec.Decode] accepts. It allocates only
// its error, a [*DecodeError].
func (s *Schema) Validate(b []byte) error {
	end, err := s.check(0, b, 0)
	if err == nil && end != len(b) {
		err = &DecodeError{"", end, fmt.Errorf("%w: %d of them", ErrTrailing, len(b)-end)}
	}
	if err != nil {
		return err // not a nil *DecodeError in an error
	}
	return nil
}

// check validates node i at b[at:] and returns the offset after it.
func (s *Schema) check(i int, b []byte, at int) (int, *DecodeError) {
	n := &s.nodes[i]
	if n.fixed && len(b)-at >= n.size {
		if !n.bools || s.orBools(n, i, b[at:at+n.size]) <= 1 {
			return at + n.size, nil
		}
		if n.kind == Bool {
			return at, &DecodeError{"", at, fmt.Errorf("%w: %d", ErrBool, b[at])}
		}
	} // else look closer, for the field to name
	switch n.kind {
	case Struct:
		for _, f := range s.fieldsOf(n) {
			end, err := s.check(int(f), b, at)
			if err != nil {
				return at, err.in(s.nodes[f].name)
			}
			at = end
		}
		return at, nil
	case Array:
		return s.checkElems(i, n.count, b, at)
	case String, Slice:
		count, err := s.checkCount(i, b, at)
		if err != nil || n.kind == String {
			return at + countSize + count, err
		}
		return s.checkElems(i, count, b, at+countSize)
	}
	return at, &DecodeError{"", at, fmt.Errorf("%w: %d bytes, want %d", io.ErrUnexpectedEOF, len(b)-at, n.size)}
}

// checkCount reads the count of a string or slice and checks that the bytes for it are there.
func (s *Schema) checkCount(i int, b []byte, at int) (int, *DecodeError) {
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

// checkElems validates count elements of the array or slice i.
func (s *Schema) checkElems(i, count int, b []byte, at int) (int, *DecodeError) {
	elem := &s.nodes[i+1]
	if size := count * elem.size; elem.fixed && size <= len(b)-at {
		if !elem.bools || s.orBoolsOf(elem, i+1, b[at:at+size]) <= 1 {
			return at + size, nil
		}
	}
	for j := range count {
		end, err := s.check(i+1, b, at)
		if err != nil {
			return at, err.in(indexStep(j))
		}
		at = end
	}
	return at, nil
}

// orBools returns all bools in one value of the fixed node i, or-ed: more than 1 if one of them is malformed.
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
