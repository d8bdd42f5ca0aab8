package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

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

// in prepends a step to the error's path.
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

// explainElems validates count elements of the array or slice i.
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
