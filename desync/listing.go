package desync

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A listing has the fields in which a right and a wrong state of one tick differ.
type listing struct {
	*diff.Alignment
	fields state.Differences // up to a limit
	places state.Places
	ranked bool     // they are in the order of cause
	rivals []string // fields of the schema that may have been first, too
}

// newListing compares two states, and lists at most limit fields. The error says which of the states is invalid.
// The paths have indexes until [alignment.named] names the elements.
func newListing(s *state.Schema, right, wrong []byte, limit int) (*listing, error) {
	a, err := diff.Align(s, right, wrong)
	if err != nil {
		if _, other := s.DiffPlacesAt("", right, wrong); other != nil {
			err = other // it says which
		}
		return nil, err
	}
	l := &listing{Alignment: a}
	l.fields, l.places, err = a.Differences("", limit)
	return l, err
}

// byCause orders the fields by cause: those that no other one accounts for come first. The tester has the states from tick
// good, at which both sides are equal, to that of the listing. It takes a quarter of the tester's time.
func (l *listing) byCause(p *tester, good, t lockstep.Tick) {
	if good = max(good, p.again.first); good >= t || !bytes.Equal(p.again.state(t), l.Whole[0]) {
		return
	}
	own := *p
	own.clock.end /= 4
	r := &ranking{tester: &own, schema: l.Schema, good: good, bad: t, wrong: l.Whole[1], orders: l.Orders}
	first := l.fields.List[:min(len(l.fields.List), maxRanked)]
	if order := r.rank(first); order != nil {
		l.ranked, l.rivals = true, r.rivals()
		l.fields.List = append(arranged(first, order), l.fields.List[len(first):]...)
		l.places = arrangedPlaces(l.places, l.fields.List)
	}
	p.clock.ticks, p.spent = own.clock.ticks, own.spent
}

// at returns the fields at or below a path, and their places. The limit is that of the listing, or lower.
func (l *listing) at(path string, limit int) (state.Differences, state.Places, error) {
	if path == "" {
		return l.fields, l.places, nil
	}
	fields, places, err := l.Differences(path, limit)
	if err == nil && l.ranked {
		fields.List = arrangedAs(fields.List, l.fields.List)
		places = arrangedPlaces(places, fields.List)
	}
	return fields, places, err
}

// DiffStates compares two states as [state.Schema.DiffPlacesAt] does, but elements of lists by their ID: an element that
// one side lacks, or has at another index, does not make those after it differ. A list in another order is a place of its
// own. The paths are those of a. It returns the fields that differ, up to 100,000, and the places.
func DiffStates(s *state.Schema, a, b []byte, path string) (state.Differences, state.Places, error) {
	l, err := newListing(s, a, b, maxListed)
	if err != nil {
		return state.Differences{}, state.Places{}, err
	}
	return l.Named(l.at(path, maxListed))
}

// arranged returns a list in an order.
func arranged(list []state.Difference, order []int) []state.Difference {
	all := make([]state.Difference, 0, len(list))
	for _, i := range order {
		all = append(all, list[i])
	}
	return together(all)
}

// together brings the fields of each element together, where the first of them stands.
func together(list []state.Difference) []state.Difference {
	var order []string
	groups := make(map[string][]state.Difference) // only looked up
	for _, d := range list {
		e := elementOf(d.Path)
		if groups[e] == nil {
			order = append(order, e)
		}
		groups[e] = append(groups[e], d)
	}
	all := make([]state.Difference, 0, len(list))
	for _, e := range order {
		all = append(all, groups[e]...)
	}
	return all
}

// elementOf returns the element of an outermost list that a path names a part of, or the section.
func elementOf(path string) string {
	section, element, _ := diff.FoldedPath(path)
	return cmp.Or(element, section)
}

// arrangedAs returns a list in the order in which its paths are in another one.
func arrangedAs(list, all []state.Difference) []state.Difference {
	at := make(map[string]int, len(all)) // only looked up
	for i, d := range all {
		at[d.Path] = i + 1
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b state.Difference) int {
		return cmp.Compare(cmp.Or(at[a.Path], len(all)+1), cmp.Or(at[b.Path], len(all)+1))
	})
	return order
}

// arrangedPlaces orders places by the first field of each in a list. That field, and its element, are then the first of the
// place.
func arrangedPlaces(p state.Places, all []state.Difference) state.Places {
	left := slices.Clone(p.List)
	ordered := []state.Place{}
	for i, d := range all {
		k := slices.IndexFunc(left, func(g state.Place) bool { return holds(&g, d.Path) })
		if k < 0 {
			continue
		}
		g := left[k]
		left = slices.Delete(left, k, k+1)
		if g.First = d; g.Element != "" && !g.Order && !byID(g.Element) {
			g.Element, g.Fields = elementOf(d.Path), 0
			for _, o := range all[i:] {
				if elementOf(o.Path) == g.Element {
					g.Fields++
				}
			}
		}
		ordered = append(ordered, g)
	}
	return state.Places{List: append(ordered, left...), Total: p.Total}
}

// holds reports whether a path is one of those that a place groups.
func holds(g *state.Place, path string) bool {
	switch {
	case g.First.Path == path:
		return true
	case g.Order || byID(g.Element) || byID(path):
		return false
	case g.Element != "":
		return strings.HasPrefix(path, g.Path+"[")
	}
	return !strings.Contains(path, "[") && strings.HasPrefix(path, g.Path+".") // of a section
}

// byID reports whether a path names an element that one side lacks.
func byID(path string) bool { return strings.Contains(path, "=") }
