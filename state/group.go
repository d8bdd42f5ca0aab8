package state

import (
	"fmt"
	"strings"
)

// A Group is all that differs between two states in one place: in the elements of one list, which is a slice or an array
// that is in no other; or in the fields of one section that are in no list; or in the length of one slice.
type Group struct {
	Path     string     `json:"path"`              // of the list or the section, such as "Units"
	Element  string     `json:"element,omitempty"` // the first element that differs, such as "Units[17]"; "" outside of lists
	First    Difference `json:"first"`             // the first field that differs
	Fields   int        `json:"fields"`            // that differ, of the first element, or of the section
	Elements int        `json:"elements"`          // that differ; 0 outside of lists
	Total    int        `json:"total"`             // fields that differ, of all elements
}

// String returns the group as one line, such as
//
//	Units[17].Pos.X 12.5 → 12.75 (+3 more fields of this unit, 41 more units)
func (g *Group) String() string {
	line := fmt.Sprintf("%s %s → %s", g.First.Path, g.First.A, g.First.B)
	var more []string
	one, many := g.nouns()
	if n := g.Fields - 1; n > 0 {
		whole := g.Path
		if g.Element != "" {
			whole = "this " + one
		}
		more = append(more, fmt.Sprintf("%d more %s of %s", n, plural(n, "field", "fields"), whole))
	}
	if n := g.Elements - 1; n > 0 {
		more = append(more, fmt.Sprintf("%d more %s", n, plural(n, one, many)))
	}
	if len(more) > 0 {
		line += " (+" + strings.Join(more, ", ") + ")"
	}
	return line
}

// nouns returns what one element of the list is called, and several: those of Units are units, and where the name does
// not tell, they are elements.
func (g *Group) nouns() (one, many string) {
	many = strings.ToLower(g.Path[strings.LastIndexByte(g.Path, '.')+1:])
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

// Groups are where two states differ, by place.
type Groups struct {
	List  []Group `json:"list"`  // in the order of their first differences
	Total int     `json:"total"` // fields that differ
}

// Lines returns at most limit groups as lines, and if there are more, a line that says so.
func (g *Groups) Lines(limit int) []string {
	var lines []string
	fields := g.Total
	for i := range g.List {
		if i == limit {
			rest := len(g.List) - i
			return append(lines, fmt.Sprintf("and %d more %s in %d more %s",
				fields, plural(fields, "field", "fields"), rest, plural(rest, "place", "places")))
		}
		lines = append(lines, g.List[i].String())
		fields -= g.List[i].Total
	}
	return lines
}

// DiffGroups compares the states a and b as [Schema.Diff] does, and groups what differs. There are at most twice as many
// groups as the schema has nodes, however much differs.
func (s *Schema) DiffGroups(a, b []byte) (Groups, error) {
	g := grouper{found: Groups{List: []Group{}}, at: make(map[groupKey]int)}
	err := s.differences(a, b, g.add)
	return g.found, err
}

// A groupKey identifies a group.
type groupKey struct {
	node   int // of the list, the section, or the slice
	length bool
}

// A grouper sorts differences into groups.
type grouper struct {
	found Groups
	at    map[groupKey]int // in found.List; only looked up, never ranged over
	last  []int            // index of the last element, by group
	first []int            // and of the first one
}

func (g *grouper) add(d *differ, n *node, a, b []byte) {
	list := 0 // steps to the list
	for list < len(d.path) && d.path[list].field >= 0 {
		list++
	}
	inList := list < len(d.path)
	key, whole, index := groupKey{node: d.path[0].field}, d.path[:1], -1
	switch {
	case inList:
		key.node, whole, index = d.path[list-1].field, d.path[:list], d.path[list].index
	case n.kind == Slice:
		key, whole = groupKey{d.path[list-1].field, true}, d.path
	}
	g.found.Total++
	i, ok := g.at[key]
	if !ok {
		i = len(g.found.List)
		g.at[key] = i
		group := Group{Path: d.text(whole), First: d.difference(n, a, b)}
		if inList {
			group.Element = d.text(d.path[:list+1])
		}
		g.found.List = append(g.found.List, group)
		g.first, g.last = append(g.first, index), append(g.last, -1)
	}
	group := &g.found.List[i]
	group.Total++
	if index == g.first[i] {
		group.Fields++
	}
	if index != g.last[i] {
		g.last[i] = index
		group.Elements++
	}
}
