package diff

import (
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// Named names all paths of what differs. A list in another order keeps its indexes: they are what differs.
func (a *Alignment) Named(fields state.Differences, places state.Places, err error) (state.Differences, state.Places, error) {
	index := make(map[string]bool) // only looked up
	for _, g := range places.List {
		index[g.First.Path] = index[g.First.Path] || g.Order
	}
	fields.List, places.List = slices.Clone(fields.List), slices.Clone(places.List)
	for i := range fields.List {
		if d := &fields.List[i]; !index[d.Path] {
			d.Path = a.Name(d.Path)
		}
	}
	for i := range places.List {
		if g := &places.List[i]; !g.Order {
			g.Element, g.First.Path = a.Name(g.Element), a.Name(g.First.Path)
		}
	}
	return fields, places, err
}
