package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// A Watcher finds one field in other states. It finds a field of a list's element by the element's ID, at any index,
// and any other field by its path.
type Watcher struct {
	Schema *state.Schema
	Path   string // in the state it was made from
	list   List   // without a name if the field is found by its path
	field  string // in the element, such as ".Pos.X"; "" is the element itself
	ID     uint64
	length bool // the field is a slice, of which only the length is watched: elements have fields of their own
}

// Watch returns a watcher of the field at a path of a state.
func Watch(s *state.Schema, b []byte, path string) (*Watcher, bool) {
	v, err := s.Lookup(b, path)
	if err != nil || strings.Contains(path, "=") { // an element that one side lacks
		return nil, false
	}
	w := &Watcher{Schema: s, Path: v.Path, length: v.Node.Kind() == state.Slice}
	open := strings.IndexByte(path, '[')
	if open < 0 {
		return w, true
	}
	v, err = s.Lookup(b, path[:open])
	if err != nil {
		return w, true
	}
	l, ok := listOf(v.Node, path[:open])
	end := open + strings.IndexByte(path[open:], ']') + 1
	if !ok {
		return w, true
	}
	if v.IDs() == nil {
		return w, true
	}
	if id, err := s.Lookup(b, path[:end]+"."+l.ID.Name()); err == nil {
		w.list, w.field, w.ID = l, path[end:], l.ID.Unscaled(id.Bytes)
	}
	return w, true
}

// Value returns the field's value in a state, and whether the state has the field.
func (w *Watcher) Value(b []byte) (state.Value, bool) {
	if b == nil {
		return state.Value{}, false
	}
	path := w.Path
	if w.ByID() {
		i := w.index(b)
		if i < 0 {
			return state.Value{}, false
		}
		path = fmt.Sprintf("%s[%d]%s", w.list.Name, i, w.field)
	}
	v, err := w.Schema.Lookup(b, path)
	return v, err == nil
}

// ByID reports whether the watcher finds the field by an element's ID.
func (w *Watcher) ByID() bool { return w.list.Name != "" }

// index returns the index of the element with the ID, or -1.
func (w *Watcher) index(b []byte) int {
	v, err := w.Schema.Lookup(b, w.list.Name)
	if err != nil {
		return -1
	}
	return slices.Index(w.list.IDs(v), w.ID)
}

// Text returns the field's value in a state as text.
func (w *Watcher) Text(b []byte) string {
	v, ok := w.Value(b)
	if !ok {
		return "absent"
	}
	return v.String()
}

// Name returns a name of the field that is the same in all states.
func (w *Watcher) Name() string {
	if !w.ByID() {
		return w.Path
	}
	return w.list.Element(w.ID) + w.field
}

// Element returns a watcher of the element that contains the field, or of the field itself if it is in no list.
func (w *Watcher) Element() *Watcher {
	e := *w
	e.field, e.length = "", false
	if open := strings.IndexByte(w.Path, '['); open >= 0 {
		e.Path = w.Path[:open+strings.IndexByte(w.Path[open:], ']')+1]
	}
	return &e
}

// Same reports whether the field has the same value in two states.
func (w *Watcher) Same(a, b []byte) bool {
	v, ok := w.Value(a)
	o, ok2 := w.Value(b)
	if !ok || !ok2 {
		return ok == ok2
	}
	if w.length {
		return bytes.Equal(v.Bytes[:CountBytes], o.Bytes[:CountBytes])
	}
	return bytes.Equal(v.Bytes, o.Bytes)
}
