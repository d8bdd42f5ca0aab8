package desync

import (
	"encoding/binary"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// orders tries the order that a list has on the wrong side, after each of the ticks: an unstable sort gives another order
// of equal elements.
func (s *search) orders(lists []list, orders []state.Place) error {
	for _, o := range orders {
		l := lists[slices.IndexFunc(lists, func(l list) bool { return l.name == o.Path })]
		v, err := s.again.game.StateSchema().Lookup(s.wrong, l.name)
		if err != nil {
			return err
		}
		if err := s.order(l, l.ranks(v), o.String()); err != nil {
			return err
		}
	}
	return nil
}

// order tries one list in the order of rank.
func (s *search) order(l list, rank map[uint64]int, text string) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if changed := l.permuted(s.again.game.StateSchema(), s.again.state(t), rank); changed != nil {
			if err := s.between(&found, variation{from: t, state: changed}, func() *Cause {
				return &Cause{Kind: PermutedList, rank: rankOrder, Path: l.name, Text: text + "; all else follows from it"}
			}); err != nil {
				return err
			}
		}
		if t == s.good {
			return nil
		}
	}
}

// ranks returns the index of each element, by ID; only looked up.
func (l *list) ranks(v state.Value) map[uint64]int {
	ranks := make(map[uint64]int)
	for i, id := range l.ids(v) {
		ranks[id] = i
	}
	return ranks
}

// permuted returns a state with the list in the order of rank, or nil.
func (l *list) permuted(s *state.Schema, b []byte, rank map[uint64]int) []byte {
	v, err := s.Lookup(b, l.name)
	if err != nil {
		return nil
	}
	changed := slices.Clone(b)
	copy(changed[v.Offset:], l.sorted(v, rank))
	return changed
}

// sameOrder reports whether the elements that two states have are in the same order in both.
func (l *list) sameOrder(s *state.Schema, a, b []byte) bool {
	v, err := s.Lookup(a, l.name)
	if err != nil {
		return false
	}
	rank, last := l.ranks(v), -1
	if v, err = s.Lookup(b, l.name); err != nil {
		return false
	}
	for _, id := range l.ids(v) {
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
func (l *list) sorted(v state.Value, rank map[uint64]int) []byte {
	var all, ranked [][]byte
	for e := range v.Elements() {
		all = append(all, e.Bytes)
		if _, ok := rank[l.idOf(e.Bytes)]; ok {
			ranked = append(ranked, e.Bytes)
		}
	}
	slices.SortStableFunc(ranked, func(a, b []byte) int { return rank[l.idOf(a)] - rank[l.idOf(b)] })
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(all)))
	for _, e := range all {
		if _, ok := rank[l.idOf(e)]; ok {
			e, ranked = ranked[0], ranked[1:]
		}
		out = append(out, e...)
	}
	return out
}
