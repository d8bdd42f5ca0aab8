package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

const (
	// group is the most elements that a row has: longer lists have rows for ranges of elements.
	group = 1000

	// maxRows limits the rows of one call, and maxOpen the open rows of a tree.
	maxRows, maxOpen = 400, 200
)

// Open is the set of open rows of a tree, by path. The zero value has none.
type Open struct{ paths map[string]bool }

// Set opens or closes a row. It reports false if too many rows are open.
func (o *Open) Set(path string, open bool) bool {
	if !open {
		delete(o.paths, path)
		return true
	}
	if o.paths == nil {
		o.paths = make(map[string]bool)
	}
	if len(o.paths) >= maxOpen && !o.paths[path] {
		return false
	}
	o.paths[path] = true
	return true
}

// Clear closes all rows.
func (o *Open) Clear() { clear(o.paths) }

// A Row is a line of the tree.
type Row struct {
	Path    string `json:"path"` // as [state.Schema.Lookup] takes it; a range of elements ends with "[0…999]"
	Name    string `json:"name"`
	Depth   int    `json:"depth"`
	Value   string `json:"value"`
	Leaf    bool   `json:"leaf"`
	Open    bool   `json:"open"`
	Changed bool   `json:"changed"` // since the tick before
}

// Rows returns at most n rows of the tree, from a row on, and the number of all rows.
func (s *Snapshot) Rows(o *Open, from, n int) (rows []Row, total int) {
	rows = []Row{}
	if s.schema == nil {
		return rows, 0
	}
	s.compare()
	w := &walk{snapshot: s, open: o.paths, from: max(from, 0), rows: rows}
	w.to = w.from + min(max(n, 0), maxRows)
	root := s.schema.Root()
	w.fields(root, s.now, "", 0)
	return w.rows, w.at
}

// Reveal opens everything around a path, as [state.Schema.Lookup] takes it, and returns the number of its row, or -1 if there is no
// such row.
func (s *Snapshot) Reveal(o *Open, path string) int {
	if s.schema == nil {
		return -1
	}
	v, err := s.schema.Lookup(s.now, path)
	if err != nil {
		return -1
	}
	path = v.Path // with indexes in place of IDs
	for at := 1; at < len(path); at++ {
		if path[at] == '.' || path[at] == '[' {
			s.openRanges(o, path, at)
			o.Set(path[:at], true)
		}
	}
	w := &walk{snapshot: s, open: o.paths, want: path, found: -1}
	w.fields(s.schema.Root(), s.now, "", 0)
	return w.found
}

// openRanges opens the ranges around an index of a path, which begins at a bracket.
func (s *Snapshot) openRanges(o *Open, path string, at int) {
	if path[at] != '[' {
		return
	}
	end := strings.IndexByte(path[at:], ']')
	index, err := strconv.Atoi(path[at+1 : at+max(end, 1)])
	list, lerr := s.schema.Lookup(s.now, path[:at])
	if err != nil || lerr != nil || leaf(list.Node) || list.Node.Kind() == state.Struct {
		return
	}
	from := 0
	to, _ := elements(list.Node, list.Bytes)
	for width := widthOf(to - from); width > 1; width = widthOf(to - from) {
		from += (index - from) / width * width
		to = min(from+width, to)
		o.Set(rangePath(path[:at], from, to), true)
	}
}

// widthOf returns the number of elements of each row of a list or range: 1, or a power of group.
func widthOf(elems int) int {
	width := 1
	for elems > group*width {
		width *= group
	}
	return width
}

func rangePath(list string, from, to int) string { return fmt.Sprintf("%s[%d…%d]", list, from, to-1) }

// A walk goes through the rows of a tree, and keeps those of a window.
type walk struct {
	snapshot *Snapshot
	open     map[string]bool
	from, to int
	at       int // number of the next row
	rows     []Row
	want     string // the path to look for
	found    int
}

// row goes to a row, and reports whether it is open.
func (w *walk) row(n state.Node, b []byte, path, name string, depth int) bool {
	open := w.open[path] && !leaf(n)
	if w.at >= w.from && w.at < w.to {
		w.rows = append(w.rows, Row{path, name, depth, summary(n, b), leaf(n), open, w.snapshot.changed[path]})
	}
	if path == w.want {
		w.found = w.at
	}
	w.at++
	return open
}

func (w *walk) value(n state.Node, b []byte, path, name string, depth int) {
	if !w.row(n, b, path, name, depth) {
		return
	}
	if n.Kind() == state.Struct {
		w.fields(n, b, path, depth+1)
		return
	}
	elems, at := elements(n, b)
	w.elements(n.Elem(), b[at:], path, 0, elems, depth+1)
}

func (w *walk) fields(n state.Node, b []byte, path string, depth int) {
	for i := range n.NumFields() {
		f := n.Field(i)
		inner := f.Name()
		if path != "" {
			inner = path + "." + inner
		}
		w.value(f, b, inner, f.Name(), depth)
		b = b[size(f, b):]
	}
}

// elements goes through the elements from one index up to another, of which b has the first.
func (w *walk) elements(elem state.Node, b []byte, path string, from, to, depth int) {
	width := widthOf(to - from)
	for i := from; i < to; i += width {
		if width == 1 {
			name := "[" + strconv.Itoa(i) + "]"
			w.value(elem, b, path+name, name, depth)
			b = b[size(elem, b):]
			continue
		}
		end := min(i+width, to)
		inner := rangePath(path, i, end)
		if w.at >= w.from && w.at < w.to {
			w.rows = append(w.rows, Row{Path: inner, Name: inner[len(path):], Depth: depth, Value: strconv.Itoa(end-i) + " elements", Open: w.open[inner]})
		}
		w.at++
		if w.open[inner] {
			w.elements(elem, b, path, i, end, depth+1)
		}
		b = b[sizeOf(elem, end-i, b):]
	}
}
