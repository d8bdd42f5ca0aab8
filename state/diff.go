package state

import (
	"bytes"
	"fmt"
)

// Difference is one leaf that differs between two states, or one slice whose length does.
type Difference struct {
	Path string `json:"path"` // such as "Units[17].Pos.X", as Lookup takes it
	A    string `json:"a"`    // both values as text, as [Value.String] gives it; a uint64 that is itself in a list, in hexadecimal
	B    string `json:"b"`

	// ULPs is the distance of two floats: how often the next float must be taken to come from one to the other. It is 0 for
	// other kinds, for a NaN, and for the two zeros.
	ULPs ULPs `json:"ulps,omitzero"`
}

// String returns the difference as "Path: A != B".
func (d Difference) String() string { return d.Path + ": " + d.A + " != " + d.B + d.ULPs.suffix() }

// Differences lists where two states differ.
type Differences struct {
	List  []Difference `json:"list"`  // in the order of the fields, up to the limit
	Total int          `json:"total"` // including those beyond the limit
}

// Diff compares the states a and b leaf by leaf. It lists at most limit differences, and counts all. For slices of
// different length it counts one difference and compares the common indexes. It skips equal regions at the speed of
// memory. The error names the side and wraps a [*DecodeError].
func (s *Schema) Diff(a, b []byte, limit int) (Differences, error) { return s.DiffAt("", a, b, limit) }

// DiffNodes compares the states a and b as [Schema.Diff] does. It returns the leaves and slices of the schema that differ in any
// element, in order. All that is in a slice counts if its length differs.
func (s *Schema) DiffNodes(a, b []byte) (nodes []Node, err error) {
	differs := make([]bool, len(s.nodes))
	err = s.differences("", a, b, func(d *differ, n *node, _, _ []byte) {
		at, last := 0, len(d.path)-1
		for ; d.path[last].field < 0; last-- { // each step into a list is to the next node
			at++
		}
		for at += d.path[last].field; at < int(n.end); at++ {
			differs[at] = true
		}
	})
	for i := range s.nodes {
		if k := s.nodes[i].kind; differs[i] && k != Struct && k != Array {
			nodes = append(nodes, Node{s, int32(i)})
		}
	}
	return nodes, err
}

// DiffAt is [Schema.Diff] of the values at or below a path, as [Schema.Lookup] takes it. A path with a value such as [ID=4000]
// means the index that it has in a, or else in b. If only one state has the path, the difference is the length of the slice that
// lacks it. The error is that of Lookup if neither has it.
func (s *Schema) DiffAt(path string, a, b []byte, limit int) (Differences, error) {
	var found Differences
	err := s.differences(path, a, b, func(d *differ, n *node, a, b []byte) {
		if found.Total++; found.Total <= limit {
			found.List = append(found.List, d.difference(n, a, b))
		}
	})
	return found, err
}

// A visit is called for every difference of two states, in order, with the node and its values at the start of a and b.
type visit func(d *differ, n *node, a, b []byte)

// differences calls see for every difference at or below a path.
func (s *Schema) differences(path string, a, b []byte, see visit) error {
	if err := s.Validate(a); err != nil {
		return fmt.Errorf("first: %w", err)
	}
	if err := s.Validate(b); err != nil {
		return fmt.Errorf("second: %w", err)
	}
	if path != "" {
		limited, err := s.within(path, a, b, see)
		if err != nil {
			return err
		}
		see = limited
	}
	d := differ{s: s, visit: see}
	d.compare(0, a, b)
	return nil
}

// within limits a visit to the differences at or below a path.
func (s *Schema) within(path string, a, b []byte, see visit) (visit, error) {
	x, xerr := s.Lookup(a, path)
	y, yerr := s.Lookup(b, path)
	whole := x.Path
	if xerr != nil {
		if whole = y.Path; yerr != nil {
			return nil, xerr
		}
	}
	inBoth := xerr == nil && yerr == nil
	return func(d *differ, n *node, a, b []byte) {
		at := d.text(d.path)
		if isWithin(at, whole) || !inBoth && n.kind == Slice && isWithin(whole, at) {
			see(d, n, a, b)
		}
	}, nil
}

type differ struct {
	s     *Schema
	visit visit
	path  []step // from the root to the current value
}

// step is one step of a path: a field's node, or an index.
type step struct {
	field int
	index int
}

// compare compares the values of node i at the start of a and b and returns their sizes.
func (d *differ) compare(i int, a, b []byte) (sizeA, sizeB int) {
	n := &d.s.nodes[i]
	sizeA, sizeB = d.s.skip(i, a), d.s.skip(i, b)
	if bytes.Equal(a[:sizeA], b[:sizeB]) {
		return sizeA, sizeB
	}
	switch n.kind {
	case Struct:
		for _, f := range d.s.fieldsOf(n) {
			d.path = append(d.path, step{field: int(f)})
			fieldA, fieldB := d.compare(int(f), a, b)
			d.path = d.path[:len(d.path)-1]
			a, b = a[fieldA:], b[fieldB:]
		}
	case Array, Slice:
		d.compareElems(i, a, b)
	default:
		//samestep:allow unseen Diff and DiffPlaces of this package set it
		d.visit(d, n, a, b)
	}
	return sizeA, sizeB
}

func (d *differ) compareElems(i int, a, b []byte) {
	countA, atA := d.s.elems(i, a)
	countB, atB := d.s.elems(i, b)
	if countA != countB {
		//samestep:allow unseen Diff and DiffPlaces of this package set it
		d.visit(d, &d.s.nodes[i], a, b)
	}
	common := min(countA, countB)
	a, b = a[atA:], b[atB:]
	elem := &d.s.nodes[i+1]
	for j := 0; j < common; j++ {
		if elem.fixed { // jump over the equal elements
			rest := (common - j) * elem.size
			equal := equalPrefix(a[:rest], b[:rest]) / elem.size
			j, a, b = j+equal, a[equal*elem.size:], b[equal*elem.size:]
			if j == common {
				return
			}
		}
		d.path = append(d.path, step{field: -1, index: j})
		elemA, elemB := d.compare(i+1, a, b)
		d.path = d.path[:len(d.path)-1]
		a, b = a[elemA:], b[elemB:]
	}
}

// equalPrefix returns how many bytes at the start of a and b are equal. Both have the same length.
func equalPrefix(a, b []byte) int {
	const block = 512
	at := 0
	for at+block <= len(a) && bytes.Equal(a[at:at+block], b[at:at+block]) {
		at += block
	}
	for at < len(a) && a[at] == b[at] {
		at++
	}
	return at
}

// difference describes the current value. A word of 64 bits in a list is mostly a part of a set of bits, so it is in
// hexadecimal.
func (d *differ) difference(n *node, a, b []byte) Difference {
	if n.kind == Uint64 && n.fraction == 0 && d.path[len(d.path)-1].field < 0 {
		return Difference{Path: d.text(d.path), A: fmt.Sprintf("%#x", loadUint(a[:n.size])), B: fmt.Sprintf("%#x", loadUint(b[:n.size]))}
	}
	return Difference{d.text(d.path), string(n.appendText(nil, a)), string(n.appendText(nil, b)), n.ulps(a, b)}
}

// text returns a path as text.
func (d *differ) text(steps []step) string {
	path := ""
	for _, step := range steps {
		if step.field < 0 {
			path += indexStep(step.index)
		} else {
			path = joinPath(path, d.s.nodes[step.field].name)
		}
	}
	return path
}
