package diff

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/words"
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

// MaxAnswer bounds the bytes of a value in the title of a report.
const MaxAnswer = 80

// PlaceText names the first of the fields that differ; without one, the section.
func PlaceText(p *state.Place, fields int, section string) string {
	switch {
	case p == nil && section != "":
		return section + " differs"
	case p == nil:
		return "the checksum differs"
	case p.Order:
		return p.String()
	}
	one := *p
	one.Fields, one.Elements = 1, 1
	one.First.A, one.First.B = words.Clipped(p.First.A, MaxAnswer), words.Clipped(p.First.B, MaxAnswer)
	if n := fields - 1; n > 0 {
		return fmt.Sprintf("%s (+%s)", &one, words.Count(n, "more field"))
	}
	return one.String()
}
