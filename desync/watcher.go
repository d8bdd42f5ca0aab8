package desync

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// A watcher finds one field again in other states. A field of a list's element
// with a field ID belongs to the element with that ID, wherever it stands then;
// any other is found by its path.
type watcher struct {
	schema *state.Schema
	path   string // in the state it was made from
	list   string // such as "Units"; "" if the field is found by its path
	field  string // in the element, such as ".Pos.X"; "" is the element itself
	id     uint64
	idNode state.Node
	idAt   int // bytes of an element before its ID
	size   int // of an element
}

// watch returns a watcher of the field at a path of a state.
func watch(s *state.Schema, b []byte, path string) (*watcher, bool) {
	v, err := s.Lookup(b, path)
	if err != nil {
		return nil, false
	}
	w := &watcher{schema: s, path: v.Path}
	open := strings.IndexByte(path, '[')
	if open < 0 {
		return w, true
	}
	list, err := s.Lookup(b, path[:open])
	if err != nil || list.Node.Kind() != state.Slice || list.Node.Elem().Kind() != state.Struct {
		return w, true
	}
	elem := list.Node.Elem()
	size, fixed := elem.Size()
	if !fixed {
		return w, true
	}
	end := open + strings.IndexByte(path[open:], ']') + 1
	at := 0
	for i := range elem.NumFields() {
		f := elem.Field(i)
		n, _ := f.Size()
		if strings.EqualFold(f.Name(), "ID") && f.Kind().Integer() {
			v, err := s.Lookup(b, path[:end]+"."+f.Name())
			if err != nil {
				return w, true
			}
			w.list, w.field, w.id, w.idNode, w.idAt, w.size = path[:open], path[end:], number(v.Bytes), f, at, size
		}
		at += n
	}
	return w, true
}

func number(b []byte) uint64 {
	var all [8]byte
	copy(all[:], b)
	return binary.LittleEndian.Uint64(all[:])
}

// value returns the field's value in a state, and whether it is there.
func (w *watcher) value(b []byte) (state.Value, bool) {
	if b == nil {
		return state.Value{}, false
	}
	path := w.path
	if w.list != "" {
		i, ok := w.index(b)
		if !ok {
			return state.Value{}, false
		}
		path = fmt.Sprintf("%s[%d]%s", w.list, i, w.field)
	}
	v, err := w.schema.Lookup(b, path)
	return v, err == nil
}

// index returns where the element with the ID stands.
func (w *watcher) index(b []byte) (int, bool) {
	list, err := w.schema.Lookup(b, w.list)
	if err != nil {
		return 0, false
	}
	idSize, _ := w.idNode.Size()
	elems := list.Bytes[4:] // behind the count
	for i := 0; (i+1)*w.size <= len(elems); i++ {
		at := i*w.size + w.idAt
		if number(elems[at:at+idSize]) == w.id {
			return i, true
		}
	}
	return 0, false
}

// text returns the field's value in a state for people.
func (w *watcher) text(b []byte) string {
	v, ok := w.value(b)
	if !ok {
		return "absent"
	}
	return v.String()
}

// name returns what the field is called over many states.
func (w *watcher) name() string {
	if w.list == "" {
		return w.path
	}
	return fmt.Sprintf("%s[%s=%d]%s", w.list, w.idNode.Name(), w.id, w.field)
}

// element returns a watcher of the element that the field is in, or of the field
// if it is in none.
func (w *watcher) element() *watcher {
	e := *w
	e.field = ""
	if open := strings.IndexByte(w.path, '['); open >= 0 {
		e.path = w.path[:open+strings.IndexByte(w.path[open:], ']')+1]
	}
	return &e
}
