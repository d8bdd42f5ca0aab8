package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// A watcher finds one field in other states. It finds a field of a list's element by the element's ID, at any index,
// and any other field by its path.
type watcher struct {
	schema *state.Schema
	path   string // in the state it was made from
	list   list   // without a name if the field is found by its path
	field  string // in the element, such as ".Pos.X"; "" is the element itself
	id     uint64
	length bool // the field is a slice, of which only the length is watched: elements have fields of their own
}

// watch returns a watcher of the field at a path of a state.
func watch(s *state.Schema, b []byte, path string) (*watcher, bool) {
	v, err := s.Lookup(b, path)
	if err != nil || strings.Contains(path, "=") { // an element that one side lacks
		return nil, false
	}
	w := &watcher{schema: s, path: v.Path, length: v.Node.Kind() == state.Slice}
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
	if id, err := s.Lookup(b, path[:end]+"."+l.id.Name()); err == nil {
		w.list, w.field, w.id = l, path[end:], l.id.Unscaled(id.Bytes)
	}
	return w, true
}

// value returns the field's value in a state, and whether the state has the field.
func (w *watcher) value(b []byte) (state.Value, bool) {
	if b == nil {
		return state.Value{}, false
	}
	path := w.path
	if w.byID() {
		i := w.index(b)
		if i < 0 {
			return state.Value{}, false
		}
		path = fmt.Sprintf("%s[%d]%s", w.list.name, i, w.field)
	}
	v, err := w.schema.Lookup(b, path)
	return v, err == nil
}

// byID reports whether the watcher finds the field by an element's ID.
func (w *watcher) byID() bool { return w.list.name != "" }

// index returns the index of the element with the ID, or -1.
func (w *watcher) index(b []byte) int {
	v, err := w.schema.Lookup(b, w.list.name)
	if err != nil {
		return -1
	}
	return slices.Index(w.list.ids(v), w.id)
}

// text returns the field's value in a state as text.
func (w *watcher) text(b []byte) string {
	v, ok := w.value(b)
	if !ok {
		return "absent"
	}
	return v.String()
}

// name returns a name of the field that is the same in all states.
func (w *watcher) name() string {
	if !w.byID() {
		return w.path
	}
	return w.list.element(w.id) + w.field
}

// element returns a watcher of the element that contains the field, or of the field itself if it is in no list.
func (w *watcher) element() *watcher {
	e := *w
	e.field, e.length = "", false
	if open := strings.IndexByte(w.path, '['); open >= 0 {
		e.path = w.path[:open+strings.IndexByte(w.path[open:], ']')+1]
	}
	return &e
}
