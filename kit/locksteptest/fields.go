package locksteptest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/state"
)

// fields changes one field after the other of the last state by its lowest bit, and one slice after the other by its last
// element. The change must survive a restore, change the checksum in the section of the field only, and appear in the
// difference. Of fields that occur many times, the phase changes the first, the last and a random one.
func (r *trial) fields() {
	sim := r.simulation()
	r.from = r.options.Ticks
	last := r.states[r.from]
	r.restoreOnly(sim, last)
	values, err := r.sample(last)
	if !r.ok(r.from, err) {
		return
	}
	var want checksum.Sum
	sim.Sum(&want)
	for _, v := range values {
		changed := slices.Clone(last)
		v.Bytes = changed[v.Offset:][:len(v.Bytes)]
		if v.Flip() { // not an empty string
			r.changed(sim, &want, v.Path, changed)
		}
	}
	all, err := r.firstSlices(last, values)
	r.ok(r.from, err)
	for _, v := range all {
		shorter, err := r.shortened(last, v)
		if r.ok(r.from, err) {
			r.changed(sim, &want, v.Path, shorter)
		}
	}
}

// changed checks a state b that differs from the last one in one field.
func (r *trial) changed(sim *lockstep.Simulation, want *checksum.Sum, path string, b []byte) {
	if refusal := (*abi.Refusal)(nil); r.err == nil && errors.As(sim.Restore(r.from, b), &refusal) {
		return // rules elsewhere may refuse a state that no game reaches
	}
	r.restoreOnly(sim, b)
	if r.err == nil {
		r.err = r.compare(r.phase, r.from, sim, b)
	}
	if r.err != nil {
		return
	}
	var got checksum.Sum
	sim.Sum(&got)
	schema := r.game.StateSchema()
	for i := range got.Sections {
		if differs := got.Sections[i] != want.Sections[i]; differs != (schema.SectionName(i) == section(path)) {
			r.ok(r.from, fmt.Errorf("%s was changed: the checksum of section %s differs: %t", path, schema.SectionName(i), differs))
		}
	}
	if got.Hash == want.Hash {
		r.ok(r.from, fmt.Errorf("%s was changed: the checksum is the same", path))
	}
	d, err := schema.Diff(r.states[r.from], b, 1)
	if r.ok(r.from, err) && (d.Total != 1 || d.List[0].Path != path) {
		r.ok(r.from, fmt.Errorf("%s was changed: got %d differences, the first at %s", path, d.Total, d.List[0].Path))
	}
}

// restoreOnly restores a state to look at it. Derive may panic, because no game reaches most of these states.
func (r *trial) restoreOnly(sim *lockstep.Simulation, b []byte) {
	if r.err == nil {
		err := sim.Restore(r.from, b)
		if fault := (*lockstep.PanicError)(nil); !errors.As(err, &fault) {
			r.ok(r.from, err)
		}
	}
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

// firstSlices returns the first slice of each node that contains one of the leaves.
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

// shortened returns the state b without the last element of a slice.
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
