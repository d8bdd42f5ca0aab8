package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/state"
)

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
	for leaf := range leaves {
		for _, b := range others(leaf) {
			config := slices.Clone(h.Config)
			copy(config[leaf.Offset:], b)
			became := leaf
			became.Bytes = b
			n := len(s.found)
			err := s.try(variation{from: s.good, config: config}, func() *Cause {
				return &Cause{
					Kind: OtherConfig, rank: rankConfig, Path: leaf.Path, Right: leaf.String(), Wrong: became.String(),
					Text: fmt.Sprintf("%s of the configuration was %s instead of %s", leaf.Path, became.String(), leaf.String()),
				}
			})
			if err != nil {
				return err
			}
			if len(s.found) == n {
				continue
			}
			if ok, err := s.lasting(config); err != nil {
				return err
			} else if !ok {
				s.found = s.found[:n]
			}
		}
	}
	return nil
}

// lasting reports whether a configuration that leads from the last good state to the wrong one is a cause. It must have been there
// from the beginning of the wrong side on, where that is kept, and lead to the states at which both sides agreed. And more than one
// rule must read it: in one tick it changes some fields, and in another one only others. Where a single rule reads it, that is no
// evidence, since a mistake in that rule does the same.
func (s *search) lasting(config []byte) (bool, error) {
	v := variation{from: s.begin, config: config}
	if s.begin == 0 {
		sim, err := s.simulation(&v)
		if err != nil {
			return false, nil
		}
		v.state = sim.AppendState(nil)
	}
	if ok, err := s.fits(&v); err != nil || !ok {
		return false, err
	}
	var read []map[string]int // the fields that it changes in single ticks
	for t := s.good + 1; t <= s.bad; t++ {
		b, err := s.play(&variation{from: t - 1, config: config}, t, nil)
		if err != nil || b == nil {
			return false, err
		}
		l, err := newListing(s.again.game.StateSchema(), s.again.state(t), b, maxListed)
		if err != nil {
			return false, err
		}
		changed := diff.Kinds(l.fields.List)
		if len(changed) > 0 && slices.ContainsFunc(read, func(o map[string]int) bool { return disjoint(o, changed) }) {
			return true, nil
		}
		read = append(read, changed)
	}
	return false, nil
}

// disjoint reports whether two sets, which are not empty, have no element in common.
func disjoint(a, b map[string]int) bool {
	for k := range a { // the order does not matter
		if b[k] > 0 {
			return false
		}
	}
	return len(a) > 0
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
	now := diff.Number(v.Bytes)
	values := []uint64{now + 1, now - 1, 0, 2 * now, now / 2, now >> 8 << 8, now & 0xff, now & 0xffff}
	for i := range 8 * len(v.Bytes) {
		values = append(values, now^1<<i)
	}
	for _, n := range values {
		b := slices.Clone(v.Bytes)
		diff.SetNumber(b, n)
		if !slices.Equal(b, v.Bytes) && !slices.ContainsFunc(all, func(o []byte) bool { return slices.Equal(o, b) }) {
			all = append(all, b)
		}
	}
	return all
}
