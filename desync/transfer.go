package desync

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/state"
)

// maxTransfer is the maximum number of fields that are tried.
const maxTransfer = 2048

// transfer returns a copy of a state in which one field is changed, so that its checksum is hash, or nil if there is
// none. It tries the fields in which two later states, a and b, differ: with the value in b, and changed by the
// difference between a and b.
func transfer(s *state.Schema, own, a, b []byte, hash uint64) []byte {
	later, err := s.Diff(a, b, maxTransfer)
	if err != nil {
		return nil
	}
	r := newHashSearch(s, own, hash)
	if r == nil {
		return nil
	}
	for _, d := range later.List {
		if r.transfer(s, a, b, d.Path) {
			return r.state
		}
	}
	return nil
}

// transfer changes one field, and restores it if the state does not get the wanted checksum.
func (r *hashSearch) transfer(s *state.Schema, a, b []byte, path string) bool {
	at, err := s.Lookup(r.state, path)
	if err != nil || at.Node.Kind() >= state.String {
		return false
	}
	x, err := s.Lookup(a, path)
	if err != nil {
		return false
	}
	y, err := s.Lookup(b, path)
	if err != nil {
		return false
	}
	section, _ := r.section(at.Offset)
	before := number(at.Bytes)
	from, to := number(x.Bytes), number(y.Bytes)
	values := []uint64{to, before + to - from, before ^ from ^ to}
	if at.Node.Kind() == state.Bool {
		values = values[:1]
	}
	for _, value := range values {
		setNumber(at.Bytes, value)
		if r.solved(r.sums, section, xxhash.Sum64(r.parts[section])) {
			return true
		}
	}
	setNumber(at.Bytes, before)
	return false
}

// number returns the canonical bytes of an integer or a bool as a number.
func number(b []byte) uint64 {
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:])
}

// setNumber sets canonical bytes to the low bytes of a number.
func setNumber(b []byte, n uint64) {
	var whole [8]byte
	binary.LittleEndian.PutUint64(whole[:], n)
	copy(b, whole[:])
}
