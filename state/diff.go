package state

import (
	"bytes"
	"fmt"
	"strings"
)

// Difference is one leaf that differs between two states, or one slice whose length does.
type Difference struct {
	Path string `json:"path"` // such as "Units[17].Pos.X", as Lookup takes it
	A    string `json:"a"`    // both values as text, as [Value.String] gives it; a uint64 that is itself in a list, in hexadecimal
	B    string `json:"b"`

	// ULPs is the distance of two floats: how many floats it is from one to the other. It is 0 for other kinds, NaNs and the two zeros.
	ULPs ULPs `json:"ulps,omitzero"`
}

// String returns the difference as "Path: A != B".
func (d Difference) String() string { return d.Path + ": " + d.A + " != " + d.B + d.ULPs.suffix() }

// Differences lists where two states differ.
type Differences struct {
	List  []Difference `json:"list"`  // in the order of the fields, up to the limit
	Total int          `json:"total"` // including those beyond the limit
}

// Rename gives each path of d the name that a function of [Schema.Names] returns.
func (d Differences) Rename(name func(path string) string) {
	for i := range d.List {
		d.List[i].Path = name(d.List[i].Path)
	}
}

// Diff compares the states a and b leaf by leaf. It lists at most limit differences, and counts all. Of slices of different length it
// counts one difference and compares the common indexes. The error names the side and wraps a [*DecodeError].
func (s *Schema) Diff(a, b []byte, limit int) (Differences, error) { return s.DiffAt("", a, b, limit) }

// DiffNodes returns the leaves and slices of the schema that differ in any element of the states a and b, in order.
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

// difference describes the current value. A word of 64 bits in a list is mostly a part of a set of bits, so it is in hexadecimal.
func (d *differ) difference(n *node, a, b []byte) Difference {
	if n.kind == Uint64 && n.fraction == 0 && d.path[len(d.path)-1].field < 0 {
		return Difference{Path: d.text(d.path), A: fmt.Sprintf("%#x", loadUint(a[:n.size])), B: fmt.Sprintf("%#x", loadUint(b[:n.size]))}
	}
	return Difference{d.text(d.path), string(n.appendText(nil, a)), string(n.appendText(nil, b)), n.ulps(a, b)}
}

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

// A Place groups the differences between two states by where they are: in the elements of one list, which is an outermost
// slice or array; in the fields of one section outside of lists; or in the length of one slice.
type Place struct {
	Path     string     `json:"path"`              // of the list or the section, such as "Units"
	Element  string     `json:"element,omitempty"` // the first element that differs, such as "Units[17]"; "" outside of lists
	First    Difference `json:"first"`             // the first field that differs
	Fields   int        `json:"fields"`            // number that differ in the first element, or in the section
	Elements int        `json:"elements"`          // number that differ; 0 outside of lists
	Total    int        `json:"total"`             // number of fields that differ, in all elements

	// Order says that both sides have the same elements of a list, in another order from Element on. First is then the
	// field that tells elements apart, and Elements the number of those in another place.
	Order bool `json:"order,omitempty"`
}

// String returns the place as one line, such as
//
//	Units[17].Pos.X 12.5 → 12.75 (+3 more fields of this unit, 41 more units)
func (p *Place) String() string {
	if p.Order {
		from := strings.TrimSuffix(p.Element[strings.LastIndexByte(p.Element, '[')+1:], "]")
		return fmt.Sprintf("the order of %s differs from index %s (%s %s → %s)", p.Path, from, p.First.Path, p.First.A, p.First.B)
	}
	line := fmt.Sprintf("%s %s → %s", p.First.Path, p.First.A, p.First.B) + p.First.ULPs.suffix()
	var more []string
	one, many := p.nouns()
	if n := p.Fields - 1; n > 0 {
		whole := p.Path
		if p.Element != "" {
			whole = "this " + one
		}
		more = append(more, fmt.Sprintf("%d more %s of %s", n, plural(n, "field", "fields"), whole))
	}
	if n := p.Elements - 1; n > 0 {
		more = append(more, fmt.Sprintf("%d more %s", n, plural(n, one, many)))
	}
	if len(more) > 0 {
		line += " (+" + strings.Join(more, ", ") + ")"
	}
	return line
}

// nouns returns the singular and plural for elements of the list: unit and units for Units, or else element and elements.
func (p *Place) nouns() (one, many string) {
	many = strings.ToLower(p.Path[strings.LastIndexByte(p.Path, '.')+1:])
	one = strings.TrimSuffix(many, "s")
	if one == many || one == "" || one == "field" || one[len(one)-1] == 's' || strings.HasSuffix(one, "ie") {
		return "element", "elements"
	}
	return one, many
}

// Places has all differences between two states, grouped by place.
type Places struct {
	List  []Place `json:"list"`  // in the order of their first differences
	Total int     `json:"total"` // number of fields that differ
}

// Lines returns a line for each of at most limit places, and a last line that counts the rest.
func (p *Places) Lines(limit int) []string {
	var lines []string
	fields := p.Total
	for i := range p.List {
		if i == limit {
			rest := len(p.List) - i
			return append(lines, fmt.Sprintf("and %d more %s in %d more %s",
				fields, plural(fields, "field", "fields"), rest, plural(rest, "place", "places")))
		}
		lines = append(lines, p.List[i].String())
		fields -= p.List[i].Total
	}
	return lines
}

// DiffPlacesAt is [Schema.DiffAt] with the differences grouped by place: at most two places for each node of the schema.
func (s *Schema) DiffPlacesAt(path string, a, b []byte) (Places, error) {
	g := placer{found: Places{List: []Place{}}, at: make(map[placeKey]int)}
	err := s.differences(path, a, b, g.add)
	return g.found, err
}

type placeKey struct {
	node   int // of the list, the section, or the slice
	length bool
}

type placer struct {
	found Places
	at    map[placeKey]int // in found.List; only looked up, never ranged over
	last  []int            // index of the last element that differs, by place
	first []int            // index of the first one, by place
}

func (g *placer) add(d *differ, n *node, a, b []byte) {
	list := 0 // steps to the list
	for list < len(d.path) && d.path[list].field >= 0 {
		list++
	}
	inList := list < len(d.path)
	key, whole, index := placeKey{node: d.path[0].field}, d.path[:1], -1
	switch {
	case inList:
		key.node, whole, index = d.path[list-1].field, d.path[:list], d.path[list].index
	case n.kind == Slice:
		key, whole = placeKey{d.path[list-1].field, true}, d.path
	}
	g.found.Total++
	i, ok := g.at[key]
	if !ok {
		i = len(g.found.List)
		g.at[key] = i
		place := Place{Path: d.text(whole), First: d.difference(n, a, b)}
		if inList {
			place.Element = d.text(d.path[:list+1])
		}
		g.found.List = append(g.found.List, place)
		g.first, g.last = append(g.first, index), append(g.last, -1)
	}
	place := &g.found.List[i]
	place.Total++
	if index == g.first[i] {
		place.Fields++
	}
	if index != g.last[i] {
		g.last[i] = index
		place.Elements++
	}
}
