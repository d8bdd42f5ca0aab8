package state

import (
	"slices"
	"strconv"
	"strings"
)

// IDField returns the integer field ID of the elements of a slice, and its offset in an element. It returns false for other nodes, and
// if the elements have no such field, or not all at one offset.
func (n Node) IDField() (id Node, offset int, ok bool) {
	if n.Kind() != Slice {
		return Node{}, 0, false
	}
	elem := n.Elem()
	for i := range elem.NumFields() {
		f := elem.Field(i)
		if strings.EqualFold(f.Name(), "ID") && f.Kind().Integer() {
			return f, offset, true
		}
		size, fixed := f.Size()
		if !fixed {
			break
		}
		offset += size
	}
	return Node{}, 0, false
}

// IDs returns the IDs of the elements of a slice, as unscaled numbers, in order; negative ones as two's complement of 64 bits. It returns
// nil if they have none, or two have the same.
func (v Value) IDs() []uint64 {
	f, at, ok := v.Node.IDField()
	if !ok {
		return nil
	}
	size, _ := f.Size()
	all := []uint64{}
	for e := range v.Elements() {
		all = append(all, f.Unscaled(e.Bytes[at:at+size]))
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(all) {
		return nil
	}
	return all
}

// Rename gives each path of d the name that a function of [Schema.Names] returns.
func (d Differences) Rename(name func(path string) string) {
	for i := range d.List {
		d.List[i].Path = name(d.List[i].Path)
	}
}

// Step returns the step of a path to element i of an array or a slice: by its ID, such as [ID=34], if there are IDs of the elements
// ([Value.IDs]), or else by its index.
func (n Node) Step(i int, ids []uint64) string {
	if i >= len(ids) {
		return indexStep(i)
	}
	f, _, _ := n.IDField()
	return "[" + f.Name() + "=" + f.UnscaledText(ids[i]) + "]"
}

// Unscaled returns the number in the canonical bytes of an integer; a negative one as two's complement of 64 bits.
func (n Node) Unscaled(b []byte) uint64 {
	x := loadUint(b)
	if n.Kind().Signed() {
		shift := 64 - 8*len(b)
		return uint64(int64(x<<shift) >> shift)
	}
	return x
}

// UnscaledText returns a number of [Node.Unscaled] as text.
func (n Node) UnscaledText(x uint64) string {
	if n.Kind().Signed() {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatUint(x, 10)
}

// Names returns a function that names elements in paths with indexes: Units[ID=34].Health for Units[33].Health, if the element has
// that ID in each of the states, at least one, which are valid. An element of a list without IDs, or with one twice, keeps its index, and so do those
// of lists in other lists.
func (s *Schema) Names(states ...[]byte) func(path string) string {
	type known struct {
		list Node
		ids  [][]uint64 // by state
	}
	lists := make(map[string]*known) // by path; only looked up
	return func(path string) string {
		list, rest, ok := strings.Cut(path, "[")
		index, rest, _ := strings.Cut(rest, "]")
		i, err := strconv.Atoi(index)
		if !ok || err != nil { // it is named already, if it is an element
			return path
		}
		l := lists[list]
		if l == nil {
			l = &known{}
			for _, b := range states {
				v, _ := s.Lookup(b, list) // without an error: it is in a path of theirs
				l.list, l.ids = v.Node, append(l.ids, v.IDs())
			}
			lists[list] = l
		}
		for _, ids := range l.ids {
			if i >= len(ids) || ids[i] != l.ids[0][i] {
				return path
			}
		}
		return list + l.list.Step(i, l.ids[0]) + rest
	}
}
