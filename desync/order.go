package desync

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// fields lists the differences between two states.
func (w *work) fields(right, wrong []byte) {
	a, err := align(w.log.schema, right, wrong)
	if err == nil {
		w.differ, w.e.Places, err = a.differences("", max(maxRanked, w.options.Fields))
	}
	if err != nil {
		panic(err) // cannot happen: both were validated when they were loaded, or are our own
	}
	w.listed = a
	w.e.Fields = w.shown(w.differ)
}

// shown returns the differences up to the limit of the options.
func (w *work) shown(d state.Differences) state.Differences {
	d.List = d.List[:min(len(d.List), w.options.Fields)]
	return d
}

// order orders the fields by cause, if the match was simulated again: those that no other one accounts for come first.
func (w *work) order() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() || w.known() >= w.bad {
		return
	}
	t := *w.tester
	t.clock.end /= 4
	r := &ranking{tester: &t, schema: w.log.schema, good: w.known(), bad: w.bad, wrong: w.wrong}
	w.ranked = r.rank(w.differ.List)
	w.tester.clock, w.tester.spent = t.clock, t.spent
	w.tester.clock.end = w.tester.clock.whole
	w.arrange()
}

// arrange brings the fields and the places into the order that was found.
func (w *work) arrange() {
	if w.ranked == nil {
		return
	}
	w.differ.List = arranged(w.differ.List, w.ranked)
	w.e.Fields = w.shown(w.differ)
	w.e.Places = arrangedPlaces(w.e.Places, w.differ.List)
}

// known returns the first tick after which the states are equal and kept.
func (w *work) known() lockstep.Tick { return max(w.good, w.again.first) }

// limit limits the fields to those of the Path. The search for the cause needs all.
func (w *work) limit() (err error) {
	if w.options.Path != "" && w.listed != nil {
		w.e.path = w.options.Path
		all := w.differ.List
		w.e.Fields, w.e.Places, err = w.listed.differences(w.options.Path, w.options.Fields)
		if w.ranked != nil {
			w.e.Fields.List = arrangedAs(w.e.Fields.List, all)
			w.e.Places = arrangedPlaces(w.e.Places, w.e.Fields.List)
		}
	}
	return err
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
	section, element, _ := foldedPath(path)
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
