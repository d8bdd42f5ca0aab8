package desync

import (
	"encoding/binary"
	"fmt"
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
			if err := s.between(&found, t, changed, func() *Cause {
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

// configurations tries other values of each field of the match's configuration.
func (s *search) configurations() error {
	h := s.again.header
	schema, err := state.ParseSchema(h.ConfigSchema)
	if err != nil {
		return nil // another engine's
	}
	leaves, err := schema.Leaves(h.Config)
	if err != nil {
		return nil
	}
	for v := range leaves {
		for _, b := range others(v) {
			config := slices.Clone(h.Config)
			copy(config[v.Offset:], b)
			became := v
			became.Bytes = b
			err := s.try(variation{from: s.good, config: config}, func() *Cause {
				return &Cause{
					Kind: OtherConfig, rank: rankConfig, Path: v.Path, Right: v.String(), Wrong: became.String(),
					Text: fmt.Sprintf("%s of the configuration was %s instead of %s", v.Path, became.String(), v.String()),
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// others returns other values of a leaf, of the same size: near ones, 0, those that differ in one bit, double and half.
func others(v state.Value) (all [][]byte) {
	kind := v.Node.Kind()
	if kind == state.Bool {
		return [][]byte{{v.Bytes[0] ^ 1}}
	}
	if !kind.Integer() {
		return nil
	}
	now := number(v.Bytes)
	values := []uint64{now + 1, now - 1, 0, 2 * now, now / 2, now >> 8 << 8, now & 0xff, now & 0xffff}
	for i := range 8 * len(v.Bytes) {
		values = append(values, now^1<<i)
	}
	for _, n := range values {
		b := slices.Clone(v.Bytes)
		setNumber(b, n)
		if !slices.Equal(b, v.Bytes) && !slices.ContainsFunc(all, func(o []byte) bool { return slices.Equal(o, b) }) {
			all = append(all, b)
		}
	}
	return all
}
