// Package diff compares two states of one schema, and names what differs: [Align] makes lists with other elements comparable,
// and a [Watcher] finds one field in any state.
package diff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/state"
)

// An Alignment makes two states comparable whose lists have different elements, or the same in another order: an index
// then means another element on each side. It reduces each list whose elements have an ID to the elements that both sides
// have, in the order of the right side. Lists inside of other lists stay as they are.
type Alignment struct {
	Schema       *state.Schema
	right, wrong []byte
	Whole        [2][]byte                // the states that were aligned
	places       map[string][]int         // by list: the right side's index of each remaining element; only looked up
	Name         func(path string) string // as reports print a path of the right state; a [Watcher] has the same name
	Missing      []state.Place            // elements that only one side has, by list and side
	Orders       []state.Place            // lists in another order
}

// Align aligns two valid states.
func Align(s *state.Schema, right, wrong []byte) (*Alignment, error) {
	a := &Alignment{Schema: s, Whole: [2][]byte{right, wrong}, places: make(map[string][]int), Name: s.Names(right)}
	for _, b := range a.Whole {
		if err := s.Validate(b); err != nil {
			return nil, err
		}
	}
	doneR, doneW := 0, 0
	for _, l := range ListsOf(s) {
		r, err := s.Lookup(right, l.Name)
		if err != nil {
			return nil, err
		}
		w, err := s.Lookup(wrong, l.Name)
		if err != nil {
			return nil, err
		}
		keptR, keptW := a.list(l, r, w)
		a.right = append(append(a.right, right[doneR:r.Offset]...), keptR...)
		a.wrong = append(append(a.wrong, wrong[doneW:w.Offset]...), keptW...)
		doneR, doneW = r.Offset+len(r.Bytes), w.Offset+len(w.Bytes)
	}
	a.right, a.wrong = append(a.right, right[doneR:]...), append(a.wrong, wrong[doneW:]...)
	return a, nil
}

// A List is a slice of structs with a field ID.
type List struct {
	Name string // its path
	ID   state.Node
	at   int // bytes of an element before its ID
}

// ListsOf returns the lists of a schema that are in no other list, in the order of their bytes.
func ListsOf(s *state.Schema) (all []List) {
	var walk func(n state.Node, path string)
	walk = func(n state.Node, path string) {
		if n.Kind() == state.Struct {
			for i := range n.NumFields() {
				f := n.Field(i)
				walk(f, strings.TrimPrefix(path+"."+f.Name(), "."))
			}
		} else if l, ok := listOf(n, path); ok {
			all = append(all, l)
		}
	}
	walk(s.Root(), "")
	return all
}

// listOf describes a node as a list. It returns false if the node is no list, or its elements have no ID at a fixed place.
func listOf(n state.Node, path string) (List, bool) {
	id, at, ok := n.IDField()
	return List{path, id, at}, ok
}

// CountBytes is the number of bytes before the elements of a slice.
const CountBytes = 4

// IDOf returns the ID of an element.
func (l *List) IDOf(element []byte) uint64 {
	n, _ := l.ID.Size()
	return l.ID.Unscaled(element[l.at : l.at+n])
}

// Has reports whether a state has an element.
func (l *List) Has(s *state.Schema, b []byte, id uint64) bool {
	v, err := s.Lookup(b, l.Name)
	return err == nil && slices.Contains(l.IDs(v), id)
}

// IDs returns the IDs of the elements, in order.
func (l *List) IDs(v state.Value) []uint64 {
	var all []uint64
	for e := range v.Elements() {
		all = append(all, l.IDOf(e.Bytes))
	}
	return all
}

// list reduces both sides' lists to the elements that both have, in the order of the right side, and notes the others and
// another order. If an ID occurs twice, the lists stay unchanged.
func (a *Alignment) list(l List, r, w state.Value) (right, wrong []byte) {
	idsR, idsW := l.IDs(r), l.IDs(w)
	if slices.Equal(idsR, idsW) {
		return r.Bytes, w.Bytes
	}
	atR, okR := indexByID(idsR)
	atW, okW := indexByID(idsW)
	if !okR || !okW {
		return r.Bytes, w.Bytes
	}
	offsets := make([]int, 0, len(idsW)+1) // of the elements on the wrong side
	for e := range w.Elements() {
		offsets = append(offsets, e.Offset-w.Offset)
	}
	offsets = append(offsets, len(w.Bytes))
	var lostR, lostW []uint64
	places := []int{}
	order := []int{} // by place: the index on the wrong side
	right, wrong = make([]byte, CountBytes), make([]byte, CountBytes)
	i := 0
	for e := range r.Elements() {
		if j, ok := atW[idsR[i]]; ok {
			right, wrong = append(right, e.Bytes...), append(wrong, w.Bytes[offsets[j]:offsets[j+1]]...)
			places, order = append(places, i), append(order, j)
		} else {
			lostR = append(lostR, idsR[i])
		}
		i++
	}
	for _, id := range idsW {
		if _, ok := atR[id]; !ok {
			lostW = append(lostW, id)
		}
	}
	binary.LittleEndian.PutUint32(right, uint32(len(places)))
	binary.LittleEndian.PutUint32(wrong, uint32(len(places)))
	a.places[l.Name] = places
	a.lost(&l, lostR, "present", "absent")
	a.lost(&l, lostW, "absent", "present")
	a.permuted(&l, places, order, idsR)
	return right, wrong
}

// indexByID returns the index of each element by its ID, and whether each ID occurs once; only looked up.
func indexByID(ids []uint64) (at map[uint64]int, unique bool) {
	at = make(map[uint64]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	return at, len(at) == len(ids)
}

func (a *Alignment) lost(l *List, ids []uint64, right, wrong string) {
	if len(ids) == 0 {
		return
	}
	first := l.Element(ids[0])
	a.Missing = append(a.Missing, state.Place{
		Path: l.Name, Element: first, First: state.Difference{Path: first, A: right, B: wrong}, Fields: 1, Elements: len(ids), Total: len(ids),
	})
}

// permuted notes the first of the common elements that has another neighbour before it, if there is one.
func (a *Alignment) permuted(l *List, places, order []int, ids []uint64) {
	if slices.IsSorted(order) {
		return
	}
	sorted := slices.Sorted(slices.Values(order))
	first, n := -1, 0
	for i := range order {
		if order[i] != sorted[i] {
			if n++; first < 0 {
				first = i
			}
		}
	}
	there := places[slices.Index(order, sorted[first])] // the element that the wrong side has there
	at := fmt.Sprintf("%s[%d]", l.Name, places[first])
	a.Orders = append(a.Orders, state.Place{
		Path: l.Name, Element: at, Order: true, Fields: 1, Elements: n, Total: 1,
		First: state.Difference{Path: at + "." + l.ID.Name(), A: l.ID.UnscaledText(ids[places[first]]), B: l.ID.UnscaledText(ids[there])},
	})
}

// Element names an element by its ID.
func (l *List) Element(id uint64) string {
	return l.Name + "[" + l.ID.Name() + "=" + l.ID.UnscaledText(id) + "]"
}

// path translates a path of the aligned right state to the whole right state.
func (a *Alignment) path(path string) string {
	open := strings.IndexByte(path, '[')
	if open < 0 {
		return path
	}
	places := a.places[path[:open]]
	end := strings.IndexByte(path, ']')
	i, err := strconv.Atoi(path[open+1 : end])
	if err != nil || i >= len(places) {
		return path
	}
	return path[:open+1] + strconv.Itoa(places[i]) + path[end:]
}

// inner translates a path of the right state, or else of the wrong one, to the aligned states, as [Alignment.path] does in
// the other direction. It returns false if the path is in an element that only one side has.
func (a *Alignment) inner(path string) (inner string, ok bool, err error) {
	v, err := a.Schema.Lookup(a.Whole[0], path)
	if err != nil {
		other, oerr := a.Schema.Lookup(a.Whole[1], path)
		if oerr != nil {
			return "", false, err
		}
		list, _, _ := strings.Cut(other.Path, "[")
		return other.Path, a.places[list] == nil, nil
	}
	list, rest, _ := strings.Cut(v.Path, "[")
	places := a.places[list]
	if places == nil || rest == "" {
		return v.Path, true, nil
	}
	index, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	if err != nil {
		return "", false, err // cannot happen: the path of a Value has indexes only
	}
	at := slices.Index(places, i)
	return fmt.Sprintf("%s[%d]%s", list, at, rest), at >= 0, nil
}

// Differences returns the fields that differ at or below a path, with their paths in the right state, and the same grouped
// by place.
func (a *Alignment) Differences(path string, limit int) (fields state.Differences, places state.Places, err error) {
	whole, inBoth := append(slices.Clone(a.Orders), a.Missing...), true // places that are no fields
	if path != "" {
		if path, inBoth, err = a.inner(path); err != nil {
			return fields, places, err
		}
		list, rest, _ := strings.Cut(path, "[")
		whole = slices.DeleteFunc(whole, func(g state.Place) bool {
			return g.Path != list && !strings.HasPrefix(g.Path, list+".") || inBoth && rest != ""
		})
	}
	if inBoth {
		if fields, err = a.Schema.DiffAt(path, a.right, a.wrong, limit); err != nil {
			return fields, places, err
		}
		if places, err = a.Schema.DiffPlacesAt(path, a.right, a.wrong); err != nil {
			return fields, places, err
		}
	}
	for i := range fields.List {
		fields.List[i].Path = a.path(fields.List[i].Path)
	}
	for i := range places.List {
		g := &places.List[i]
		g.Element, g.First.Path = a.path(g.Element), a.path(g.First.Path)
	}
	var first []state.Difference
	for _, g := range whole {
		first = append(first, g.First)
		fields.Total += g.Total
		places.Total += g.Total
	}
	fields.List = append(first, fields.List...)
	places.List = append(whole, places.List...)
	return fields, places, nil
}

// OneBit reports whether two values differ in a single bit.
func OneBit(a, b []byte) bool {
	n := 0
	for i := range a {
		if len(a) == len(b) {
			n += bits.OnesCount8(a[i] ^ b[i])
		}
	}
	return n == 1
}

// Ranks returns the index of each element, by ID; only looked up.
func (l *List) Ranks(v state.Value) map[uint64]int {
	ranks, _ := indexByID(l.IDs(v))
	return ranks
}

// Permuted returns a state in which the elements of the list with a rank are in that order, and the others where they are; or nil.
func (l *List) Permuted(s *state.Schema, b []byte, rank map[uint64]int) []byte {
	v, err := s.Lookup(b, l.Name)
	if err != nil {
		return nil
	}
	var ranked [][]byte
	has := func(element []byte) bool { _, ok := rank[l.IDOf(element)]; return ok }
	for e := range v.Elements() {
		if has(e.Bytes) {
			ranked = append(ranked, e.Bytes)
		}
	}
	slices.SortStableFunc(ranked, func(a, b []byte) int { return rank[l.IDOf(a)] - rank[l.IDOf(b)] })
	changed, at := slices.Clone(b), v.Offset+CountBytes
	for e := range v.Elements() {
		next := e.Bytes
		if has(next) {
			next, ranked = ranked[0], ranked[1:]
		}
		at += copy(changed[at:], next)
	}
	return changed
}

// SameOrder reports whether the elements that two states have are in the same order in both.
func (l *List) SameOrder(s *state.Schema, a, b []byte) bool {
	v, err := s.Lookup(a, l.Name)
	return err == nil && bytes.Equal(l.Permuted(s, b, l.Ranks(v)), b)
}

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
