package state

import (
	"bytes"
	"fmt"
)

// Difference is one leaf that differs between two states, or one slice whose length does.
type Difference struct {
	Path string // such as "Units[17].Pos.X", as Lookup takes it
	A, B string // both values as text, as [Value.String] gives it
}

// String returns the difference as "Path: A != B".
func (d Difference) String() string { return d.Path + ": " + d.A + " != " + d.B }

// Differences are where two states differ.
type Differences struct {
	List  []Difference // in the order of the fields, up to the limit
	Total int          // also beyond the limit
}

// Diff compares the states a and b leaf by leaf. It lists at most limit differences, and counts them all. Slices of
// different length count as one difference, and their common indexes are compared. Equal regions are skipped at the
// speed of memory. The error names the side and wraps a [*DecodeError].
func (s *Schema) Diff(a, b []byte, limit int) (Differences, error) {
	if err := s.Validate(a); err != nil {
		return Differences{}, fmt.Errorf("state: first state: %w", err)
	}
	if err := s.Validate(b); err != nil {
		return Differences{}, fmt.Errorf("state: second state: %w", err)
	}
	d := differ{s: s, limit: limit}
	d.compare(0, a, b)
	return d.found, nil
}

type differ struct {
	s     *Schema
	limit int
	found Differences
	path  []step // from the root to the present value
}

// step is one step of a path: a field's node, or an index.
type step struct {
	field int
	index int
}

// compare compares two values of node i at the beginning of a and b and returns their sizes.
func (d *differ) compare(i int, a, b []byte) (sizeA, sizeB int) {
	n := &d.s.nodes[i]
	if n.fixed && bytes.Equal(a[:n.size], b[:n.size]) {
		return n.size, n.size
	}
	switch n.kind {
	case Struct:
		for _, f := range d.s.fieldsOf(n) {
			d.path = append(d.path, step{field: int(f)})
			fieldA, fieldB := d.compare(int(f), a[sizeA:], b[sizeB:])
			d.path = d.path[:len(d.path)-1]
			sizeA, sizeB = sizeA+fieldA, sizeB+fieldB
		}
		return sizeA, sizeB
	case Array, Slice:
		return d.compareElems(i, a, b)
	}
	sizeA, sizeB = d.s.skip(i, a), d.s.skip(i, b)
	if !bytes.Equal(a[:sizeA], b[:sizeB]) {
		d.add(n, a, b)
	}
	return sizeA, sizeB
}

func (d *differ) compareElems(i int, a, b []byte) (sizeA, sizeB int) {
	countA, sizeA := d.s.elems(i, a)
	countB, sizeB := d.s.elems(i, b)
	if countA != countB {
		d.add(&d.s.nodes[i], a, b)
	}
	common := min(countA, countB)
	elem := &d.s.nodes[i+1]
	for j := 0; j < common; j++ {
		if elem.fixed { // jump over the equal elements
			rest := (common - j) * elem.size
			equal := equalPrefix(a[sizeA:sizeA+rest], b[sizeB:sizeB+rest]) / elem.size
			j, sizeA, sizeB = j+equal, sizeA+equal*elem.size, sizeB+equal*elem.size
			if j == common {
				break
			}
		}
		d.path = append(d.path, step{field: -1, index: j})
		elemA, elemB := d.compare(i+1, a[sizeA:], b[sizeB:])
		d.path = d.path[:len(d.path)-1]
		sizeA, sizeB = sizeA+elemA, sizeB+elemB
	}
	return sizeA + d.s.skipElems(i, countA-common, a[sizeA:]), sizeB + d.s.skipElems(i, countB-common, b[sizeB:])
}

// equalPrefix returns how many bytes at the beginning of a and b, which have one length, are equal.
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

func (d *differ) add(n *node, a, b []byte) {
	d.found.Total++
	if d.found.Total > d.limit {
		return
	}
	path := ""
	for _, step := range d.path {
		if step.field < 0 {
			path += indexStep(step.index)
		} else {
			path = joinPath(path, d.s.nodes[step.field].name)
		}
	}
	d.found.List = append(d.found.List, Difference{path, string(n.appendText(nil, a)), string(n.appendText(nil, b))})
}
