package replay

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// maxTransfer is how many fields are tried.
const maxTransfer = 2048

// transfer returns a copy of a state in which one field is changed, so that its
// checksum is root, or nil if there is none. It tries the fields in which two
// later states, a and b, differ: with the value that b has, and changed by as
// much as b differs from a.
func transfer(s *state.Schema, own, a, b []byte, root uint64) []byte {
	later, err := s.Diff(a, b, maxTransfer)
	if err != nil {
		return nil
	}
	own = slices.Clone(own)
	parts, err := s.Split(nil, own)
	if err != nil {
		return nil
	}
	t := transferrer{schema: s, parts: parts, root: root}
	for _, part := range parts {
		t.sizes = append(t.sizes, len(part))
		t.sums = append(t.sums, xxhash.Sum64(part))
	}
	for _, d := range later.List {
		if t.try(own, a, b, d.Path) {
			return own
		}
	}
	return nil
}

// A transferrer changes fields of a state.
type transferrer struct {
	schema *state.Schema
	parts  [][]byte // of the state, by section
	sizes  []int
	sums   []uint64
	root   uint64
}

// try changes one field, and takes it back if the checksum is not right.
func (t *transferrer) try(own, a, b []byte, path string) bool {
	at, err := t.schema.Lookup(own, path)
	if err != nil || at.Node.Kind() >= state.String {
		return false
	}
	x, err := t.schema.Lookup(a, path)
	if err != nil {
		return false
	}
	y, err := t.schema.Lookup(b, path)
	if err != nil {
		return false
	}
	section, begin := 0, 0
	for at.Offset >= begin+t.sizes[section] {
		begin += t.sizes[section]
		section++
	}
	before, sum := number(at.Bytes), t.sums[section]
	from, to := number(x.Bytes), number(y.Bytes)
	values := []uint64{to, before + to - from, before ^ from ^ to}
	if at.Node.Kind() == state.Bool {
		values = values[:1]
	}
	for _, value := range values {
		setNumber(at.Bytes, value)
		t.sums[section] = xxhash.Sum64(t.parts[section])
		if checksum.RootOf(t.sizes, t.sums) == t.root {
			return true
		}
	}
	setNumber(at.Bytes, before)
	t.sums[section] = sum
	return false
}

// number returns the canonical bytes of an integer or a bool as a number.
func number(b []byte) uint64 {
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:])
}

// setNumber sets canonical bytes to as much of a number as they hold.
func setNumber(b []byte, n uint64) {
	var whole [8]byte
	binary.LittleEndian.PutUint64(whole[:], n)
	copy(b, whole[:])
}
