package desync

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// name returns a path of the right state as reports print it: an element of a list is named by its ID, such as
// Units[ID=34].Health for Units[33].Health, or by its index where elements have no ID, or two have the same. A
// [watcher] has the same name.
func (a *alignment) name(path string) string {
	open, end := strings.IndexByte(path, '['), strings.IndexByte(path, ']')
	if open < 0 || end < open {
		return path
	}
	i, err := strconv.Atoi(path[open+1 : end])
	n, ok := a.names[path[:open]]
	if err != nil || !ok || i >= len(n.ids) { // one that only one side has is named already
		return path
	}
	return n.list.element(n.ids[i]) + path[end+1:]
}

// named names all paths of what differs. A list in another order keeps its indexes: they are what differs.
func (a *alignment) named(fields state.Differences, places state.Places, err error) (state.Differences, state.Places, error) {
	index := make(map[string]bool) // only looked up
	for _, g := range places.List {
		index[g.First.Path] = index[g.First.Path] || g.Order
	}
	fields.List, places.List = slices.Clone(fields.List), slices.Clone(places.List)
	for i := range fields.List {
		if d := &fields.List[i]; !index[d.Path] {
			d.Path = a.name(d.Path)
		}
	}
	for i := range places.List {
		if g := &places.List[i]; !g.Order {
			g.Element, g.First.Path = a.name(g.Element), a.name(g.First.Path)
		}
	}
	return fields, places, err
}
