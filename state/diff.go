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
		d.add(n, a, b)
	}
	return sizeA, sizeB
}

func (d *differ) compareElems(i int, a, b []byte) {
	countA, atA := d.s.elems(i, a)
	countB, atB := d.s.elems(i, b)
	if countA != countB {
		d.add(&d.s.nodes[i], a, b)
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
