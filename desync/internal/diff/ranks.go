package diff

import (
	"encoding/binary"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// Ranks returns the index of each element, by ID; only looked up.
func (l *List) Ranks(v state.Value) map[uint64]int {
	ranks := make(map[uint64]int)
	for i, id := range l.IDs(v) {
		ranks[id] = i
	}
	return ranks
}

// Permuted returns a state with the list in the order of rank, or nil.
func (l *List) Permuted(s *state.Schema, b []byte, rank map[uint64]int) []byte {
	v, err := s.Lookup(b, l.Name)
	if err != nil {
		return nil
	}
	changed := slices.Clone(b)
	copy(changed[v.Offset:], l.sorted(v, rank))
	return changed
}

// SameOrder reports whether the elements that two states have are in the same order in both.
func (l *List) SameOrder(s *state.Schema, a, b []byte) bool {
	v, err := s.Lookup(a, l.Name)
	if err != nil {
		return false
	}
	rank, last := l.Ranks(v), -1
	if v, err = s.Lookup(b, l.Name); err != nil {
		return false
	}
	for _, id := range l.IDs(v) {
		at, both := rank[id]
		if both && at < last {
			return false
		}
		if both {
			last = at
		}
	}
	return true
}

// sorted returns the bytes of a list whose elements of known rank are in that order. The others stay where they are.
func (l *List) sorted(v state.Value, rank map[uint64]int) []byte {
	var all, ranked [][]byte
	for e := range v.Elements() {
		all = append(all, e.Bytes)
		if _, ok := rank[l.IDOf(e.Bytes)]; ok {
			ranked = append(ranked, e.Bytes)
		}
	}
	slices.SortStableFunc(ranked, func(a, b []byte) int { return rank[l.IDOf(a)] - rank[l.IDOf(b)] })
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(all)))
	for _, e := range all {
		if _, ok := rank[l.IDOf(e)]; ok {
			e, ranked = ranked[0], ranked[1:]
		}
		out = append(out, e...)
	}
	return out
}
