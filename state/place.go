package state

import (
	"fmt"
	"strings"
)

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

// nouns returns the singular and plural for elements of the list, from its name: unit and units for Units. Where the name
// is no plural, they are element and elements.
func (p *Place) nouns() (one, many string) {
	many = strings.ToLower(p.Path[strings.LastIndexByte(p.Path, '.')+1:])
	one = strings.TrimSuffix(many, "s")
	if one == many || one == "" || one == "field" || one[len(one)-1] == 's' || strings.HasSuffix(one, "ie") {
		return "element", "elements"
	}
	return one, many
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
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

// DiffPlaces compares the states a and b as [Schema.Diff] does, and groups the differences by place. It finds at most two
// places for each node of the schema.
func (s *Schema) DiffPlaces(a, b []byte) (Places, error) { return s.DiffPlacesAt("", a, b) }

// DiffPlacesAt is [Schema.DiffPlaces] of the values at or below a path, as in [Schema.DiffAt].
func (s *Schema) DiffPlacesAt(path string, a, b []byte) (Places, error) {
	g := placer{found: Places{List: []Place{}}, at: make(map[placeKey]int)}
	err := s.differences(path, a, b, g.add)
	return g.found, err
}

type placeKey struct {
	node   int // of the list, the section, or the slice
	length bool
}

// A placer groups differences by place.
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
