package desync

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// An alignment makes two states comparable whose lists have different elements: where one side lacks an element, every
// later element has another index. It reduces each section that is a list of elements with an ID to the elements that
// both sides have.
type alignment struct {
	schema       *state.Schema
	right, wrong []byte
	whole        [2][]byte        // the states that were aligned
	places       map[string][]int // by list: the right side's index of each remaining element; only looked up
	missing      []state.Place    // elements that only one side has, by list and side
}

// align aligns two valid states.
func align(s *state.Schema, right, wrong []byte) (*alignment, error) {
	a := &alignment{schema: s, whole: [2][]byte{right, wrong}, places: make(map[string][]int)}
	r, err := s.Split(nil, right)
	if err != nil {
		return nil, err
	}
	w, err := s.Split(nil, wrong)
	if err != nil {
		return nil, err
	}
	for i := range r {
		l, ok := listOf(s.Root().Field(i))
		if ok {
			r[i], w[i] = a.list(l, r[i], w[i])
		}
		a.right, a.wrong = append(a.right, r[i]...), append(a.wrong, w[i]...)
	}
	return a, nil
}

// A list is a slice of structs of one size with a field ID.
type list struct {
	name string
	id   state.Node
	size int // of an element
	at   int // bytes of an element before its ID
}

// listOf describes a node as a list. It returns false if the node is no list, or its elements have no ID.
func listOf(n state.Node) (list, bool) {
	if n.Kind() != state.Slice || n.Elem().Kind() != state.Struct {
		return list{}, false
	}
	elem := n.Elem()
	size, fixed := elem.Size()
	if !fixed {
		return list{}, false
	}
	at := 0
	for i := range elem.NumFields() {
		f := elem.Field(i)
		if strings.EqualFold(f.Name(), "ID") && f.Kind().Integer() {
			return list{n.Name(), f, size, at}, true
		}
		sizeBytes, _ := f.Size()
		at += sizeBytes
	}
	return list{}, false
}

const countBytes = 4 // before the elements of a slice

// ids returns the IDs of the elements, in order.
func (l *list) ids(b []byte) []uint64 {
	n, _ := l.id.Size()
	var all []uint64
	for b = b[countBytes:]; len(b) > 0; b = b[l.size:] {
		all = append(all, number(b[l.at:l.at+n]))
	}
	return all
}

// list reduces both sides' lists to the elements that both have, and notes the others. It leaves the lists as they are
// if the common elements are in different orders.
func (a *alignment) list(l list, r, w []byte) (right, wrong []byte) {
	idsR, idsW := l.ids(r), l.ids(w)
	if slices.Equal(idsR, idsW) {
		return r, w
	}
	keptR, places, lostR := l.common(r, idsR, idsW)
	keptW, _, lostW := l.common(w, idsW, idsR)
	if !slices.Equal(l.ids(keptR), l.ids(keptW)) {
		return r, w
	}
	a.places[l.name] = places
	a.lost(&l, lostR, "present", "absent")
	a.lost(&l, lostW, "absent", "present")
	return keptR, keptW
}

// common returns a list of the elements whose ID is in others, their indexes in b, and the IDs of the rest.
func (l *list) common(b []byte, ids, others []uint64) (kept []byte, places []int, lost []uint64) {
	has := make(map[uint64]bool, len(others)) // only looked up
	for _, id := range others {
		has[id] = true
	}
	kept = make([]byte, countBytes)
	for i, id := range ids {
		if has[id] {
			kept = append(kept, b[countBytes+i*l.size:countBytes+(i+1)*l.size]...)
			places = append(places, i)
		} else {
			lost = append(lost, id)
		}
	}
	binary.LittleEndian.PutUint32(kept, uint32(len(places)))
	return kept, places, lost
}

func (a *alignment) lost(l *list, ids []uint64, right, wrong string) {
	if len(ids) == 0 {
		return
	}
	first := l.element(ids[0])
	a.missing = append(a.missing, state.Place{
		Path: l.name, Element: first, First: state.Difference{Path: first, A: right, B: wrong}, Fields: 1, Elements: len(ids), Total: len(ids),
	})
}

// element names an element by its ID.
func (l *list) element(id uint64) string { return fmt.Sprintf("%s[%s=%d]", l.name, l.id.Name(), id) }

// path translates a path of the aligned right state to the whole right state.
func (a *alignment) path(path string) string {
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

// inner translates a path of the right state, or else of the wrong one, to the aligned states, as [alignment.path] does in
// the other direction. It returns false if the path is in an element that only one side has.
func (a *alignment) inner(path string) (inner string, ok bool, err error) {
	v, err := a.schema.Lookup(a.whole[0], path)
	if err != nil {
		other, oerr := a.schema.Lookup(a.whole[1], path)
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

// differences returns the fields that differ at or below a path, with their paths in the right state, and the same grouped
// by place.
func (a *alignment) differences(path string, limit int) (fields state.Differences, places state.Places, err error) {
	missing, inBoth := a.missing, true
	if path != "" {
		if path, inBoth, err = a.inner(path); err != nil {
			return fields, places, err
		}
		list, rest, _ := strings.Cut(path, "[")
		missing = slices.DeleteFunc(slices.Clone(missing), func(g state.Place) bool { return g.Path != list || inBoth && rest != "" })
	}
	if inBoth {
		if fields, err = a.schema.DiffAt(path, a.right, a.wrong, limit); err != nil {
			return fields, places, err
		}
		if places, err = a.schema.DiffPlacesAt(path, a.right, a.wrong); err != nil {
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
	var lost []state.Difference
	for _, g := range missing {
		lost = append(lost, g.First)
		fields.Total += g.Total
		places.Total += g.Total
	}
	fields.List = append(lost, fields.List...)
	places.List = append(append([]state.Place{}, missing...), places.List...)
	return fields, places, nil
}
