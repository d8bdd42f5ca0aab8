package locksteptest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// fields changes one field after the other of the last state by its lowest bit, and one slice after the other by its
// last element: what was changed stays so, the checksum is another one, in the section of the field only, and the
// difference names it. Of fields that occur many times, it takes the first one, the last one and a random one.
func (m *match) fields() error {
	last := m.options.Ticks
	sim, err := m.game.NewSimulation(m.header)
	if err != nil {
		return m.fail("fields", 0, 0, err)
	}
	if err := m.restoreOnly(sim, m.states[last]); err != nil {
		return err
	}
	var want checksum.Sum
	sim.Sum(&want)
	values, err := m.sample(m.states[last])
	if err != nil {
		return m.fail("fields", last, last, err)
	}
	for _, v := range values {
		changed := slices.Clone(m.states[last])
		v.Bytes = changed[v.Offset:][:len(v.Bytes)]
		if !v.Flip() {
			continue // an empty string
		}
		if err := m.changed(sim, &want, v.Path, changed); err != nil {
			return err
		}
	}
	all, err := m.firstSlices(m.states[last], values)
	if err != nil {
		return m.fail("fields", last, last, err)
	}
	for _, v := range all {
		shorter, err := m.shortened(m.states[last], v)
		if err != nil {
			return m.fail("fields", last, last, err)
		}
		if err := m.changed(sim, &want, v.Path, shorter); err != nil {
			return err
		}
	}
	return nil
}

// changed checks a state that differs from the last one in one field.
func (m *match) changed(sim *lockstep.Simulation, want *checksum.Sum, path string, b []byte) error {
	last := m.options.Ticks
	if err := m.restoreOnly(sim, b); err != nil {
		return err
	}
	if err := m.compare("fields", last, sim, b); err != nil {
		return err
	}
	var got checksum.Sum
	sim.Sum(&got)
	section, _, _ := strings.Cut(path, ".")
	section, _, _ = strings.Cut(section, "[")
	schema := m.game.StateSchema()
	for i := range got.Sections {
		if differs := got.Sections[i] != want.Sections[i]; differs != (schema.SectionName(i) == section) {
			return m.fail("fields", last, last, fmt.Errorf("%s was changed: the checksum of section %s differs: %t", path, schema.SectionName(i), differs))
		}
	}
	if got.Hash == want.Hash {
		return m.fail("fields", last, last, fmt.Errorf("%s was changed: the checksum is the same", path))
	}
	d, err := schema.Diff(m.states[last], b, 1)
	if err != nil {
		return m.fail("fields", last, last, err)
	}
	if d.Total != 1 || d.List[0].Path != path {
		return m.fail("fields", last, last, fmt.Errorf("%s was changed: got %d differences, the first at %s", path, d.Total, d.List[0].Path))
	}
	return nil
}

// restoreOnly restores a state for looking at it. No game ever gets into most of these states, so its Derive may panic.
func (m *match) restoreOnly(sim *lockstep.Simulation, b []byte) error {
	last := m.options.Ticks
	err := sim.Restore(last, b)
	if fault := (*lockstep.PanicError)(nil); err == nil || errors.As(err, &fault) {
		return nil
	}
	return m.fail("fields", last, last, err)
}

// sample returns up to three leaves of each kind of field: the first, a random one, and the last, in the order of the
// kinds.
func (m *match) sample(b []byte) ([]state.Value, error) {
	leaves, err := m.game.StateSchema().Leaves(b)
	if err != nil {
		return nil, err
	}
	type group struct {
		values [3]state.Value
		n      int
	}
	var groups []*group
	byNode := map[state.Node]*group{} // only looked up
	rng := rand.New(rand.NewPCG(m.options.Seed, 0xf1e1d5))
	for v := range leaves {
		g := byNode[v.Node]
		if g == nil {
			g = &group{}
			byNode[v.Node], groups = g, append(groups, g)
			g.values[0], g.values[1] = v, v
		}
		g.n++
		if rng.IntN(g.n) == 0 {
			g.values[1] = v
		}
		g.values[2] = v
	}
	var values []state.Value
	for _, g := range groups {
		values = append(values, slices.CompactFunc(g.values[:], func(a, b state.Value) bool { return a.Path == b.Path })...)
	}
	return values, nil
}

// firstSlices returns the values of the first slice of each kind that the leaves lie in.
func (m *match) firstSlices(b []byte, leaves []state.Value) ([]state.Value, error) {
	var found []state.Value
	for _, leaf := range leaves {
		for i := range leaf.Path {
			if leaf.Path[i] != '[' {
				continue
			}
			v, err := m.game.StateSchema().Lookup(b, leaf.Path[:i])
			if err != nil {
				return nil, err
			}
			if v.Node.Kind() == state.Slice && !slices.ContainsFunc(found, func(f state.Value) bool { return f.Node == v.Node }) {
				found = append(found, v)
			}
		}
	}
	return found, nil
}

// shortened returns a state in which a slice lacks its last element.
func (m *match) shortened(b []byte, slice state.Value) ([]byte, error) {
	n := binary.LittleEndian.Uint32(slice.Bytes) - 1
	last, err := m.game.StateSchema().Lookup(b, fmt.Sprintf("%s[%d]", slice.Path, n))
	if err != nil {
		return nil, err
	}
	b = slices.Delete(slices.Clone(b), last.Offset, last.Offset+len(last.Bytes))
	binary.LittleEndian.PutUint32(b[slice.Offset:], n)
	return b, nil
}
