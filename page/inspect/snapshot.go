// Package inspect shows the state of any game by its schema alone: as a tree with search, as the list of changes since the
// last tick, and as the places of everything that has one. It also makes commands of what a person enters in a form.
//
//	var s inspect.Snapshot
//	s.Take(before, now) // two simulations, one tick apart
//	rows, total := s.Rows(&open, 0, 50)
//	found := s.Search("units health = 12")
//	places := s.Places(players)
//
// All results are bounded, whatever the state has. The texts are plain text, and not markup.
package inspect

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// shownChanges limits the changes that are listed; marked limits those that mark a row.
const shownChanges, marked = 300, 3000

// A Snapshot is the state of a tick, and that of the tick before it, as canonical bytes. It belongs to one goroutine.
type Snapshot struct {
	schema      *state.Schema
	tick        lockstep.Tick
	before, now []byte
	layers      *layers

	differences state.Differences
	changed     map[string]bool // paths of changed fields, and of everything around them
	compared    bool
}

// Take takes the states of two simulations of a game, of the same tick or one tick apart.
func (s *Snapshot) Take(schema *state.Schema, before, now *lockstep.Simulation) {
	s.use(schema)
	s.tick, s.compared = now.Tick(), false
	s.before = s.before[:0]
	if before != nil {
		s.before = before.AppendState(s.before)
	}
	s.now = now.AppendState(s.now[:0])
}

// TakeBytes takes the states of a tick and of the tick before as canonical bytes, which it copies. before is nil if it is not known.
func (s *Snapshot) TakeBytes(schema *state.Schema, t lockstep.Tick, before, now []byte) {
	s.use(schema)
	s.tick, s.compared = t, false
	s.before, s.now = append(s.before[:0], before...), append(s.now[:0], now...)
}

func (s *Snapshot) use(schema *state.Schema) {
	if s.schema != schema {
		s.schema, s.layers = schema, layersOf(schema)
	}
}

// Tick returns the tick of the state.
func (s *Snapshot) Tick() lockstep.Tick { return s.tick }

// SizeBytes returns the size of the state in canonical bytes.
func (s *Snapshot) SizeBytes() int { return len(s.now) }

// Changes returns the fields that differ between the two states: at most 300 of them, and their number.
func (s *Snapshot) Changes() state.Differences {
	s.compare()
	d := s.differences
	d.List = append([]state.Difference{}, d.List...) // an empty list, not null, for the page
	return d
}

func (s *Snapshot) compare() {
	if s.compared || s.schema == nil {
		return
	}
	s.compared, s.changed = true, make(map[string]bool)
	s.differences = state.Differences{List: []state.Difference{}}
	if len(s.before) == 0 {
		return
	}
	d, err := s.schema.Diff(s.before, s.now, marked)
	if err != nil || d.List == nil {
		return // a simulation's own bytes are canonical
	}
	for _, f := range d.List {
		path := f.Path
		for path != "" && !s.changed[path] {
			s.changed[path] = true
			path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		}
	}
	d.List = d.List[:min(len(d.List), shownChanges)]
	d.Rename(s.schema.Names(s.before, s.now))
	s.differences = d
}

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

// unfolded is the most rows that a tree has at first.
const unfolded = 40

// Unfold opens the outermost rows, and what is in them, as far as the tree stays short.
func (s *Snapshot) Unfold(o *Open) {
	for range 2 {
		rows, _ := s.Rows(o, 0, unfolded)
		for _, r := range rows {
			if r.Leaf || r.Open || !o.Set(r.Path, true) {
				continue
			}
			if _, total := s.Rows(o, 0, 0); total > unfolded {
				o.Set(r.Path, false)
			}
		}
	}
}

// Reveal opens everything around a path, as [state.Schema.Lookup] takes it, and returns the number of its row, or -1.
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
	to, _ := list.Node.Elements(list.Bytes)
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

type walk struct {
	snapshot *Snapshot
	open     map[string]bool
	from, to int
	at       int // number of the next row
	rows     []Row
	want     string // the path to look for
	found    int
}

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
	elems, at := n.Elements(b)
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
		b = b[f.SizeOf(b):]
	}
}

// elements goes through the elements from one index up to another, of which b has the first.
func (w *walk) elements(elem state.Node, b []byte, path string, from, to, depth int) {
	width := widthOf(to - from)
	for i := from; i < to; i += width {
		if width == 1 {
			name := "[" + strconv.Itoa(i) + "]"
			w.value(elem, b, path+name, name, depth)
			b = b[elem.SizeOf(b):]
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

// maxHits limits the results of a search, and maxSearched the fields that it looks at.
const maxHits, maxSearched = 200, 400_000

// A Hit is a field that a search has found.
type Hit struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Found are the results of a search.
type Found struct {
	Hits     []Hit `json:"hits"`     // in the order of the state
	Searched int   `json:"searched"` // number of fields
	More     bool  `json:"more"`     // there are more results, or more fields
}

// Search looks for fields whose path and value, as in "Units[3].Health = 12", have all words of a query, whatever their case.
func (s *Snapshot) Search(query string) Found {
	f := Found{Hits: []Hit{}}
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 || s.schema == nil {
		return f
	}
	leaves, err := s.schema.Leaves(s.now)
	if err != nil {
		return f // a simulation's own bytes are canonical
	}
	name := s.schema.Names(s.now)
	for v := range leaves {
		if f.More = f.Searched == maxSearched || len(f.Hits) == maxHits; f.More {
			break
		}
		f.Searched++
		value := text(v.Node, v.Bytes)
		line := strings.ToLower(v.Path + " = " + value)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			f.Hits = append(f.Hits, Hit{name(v.Path), value})
		}
	}
	return f
}

const maxText = 200

func count(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }

func sizeOf(elem state.Node, elems int, b []byte) int {
	if each, fixed := elem.Size(); fixed {
		return elems * each
	}
	at := 0
	for range elems {
		at += elem.SizeOf(b[at:])
	}
	return at
}

func leaf(n state.Node) bool { return n.Kind() <= state.String || n.Kind().Float() }

func text(n state.Node, b []byte) string {
	if n.Kind() == state.String {
		whole := count(b)
		clipped := min(whole, maxText)
		quoted := strconv.Quote(string(b[4 : 4+clipped]))
		if whole > clipped {
			quoted += "…"
		}
		return strings.ToValidUTF8(quoted, "\uFFFD")
	}
	return state.Value{Node: n, Bytes: b}.String()
}

// summary returns a value in one line of about maxText bytes at most.
func summary(n state.Node, b []byte) string {
	switch n.Kind() {
	case state.Struct:
		return string(appendFields(nil, n, b))
	case state.Array, state.Slice:
		elems, _ := n.Elements(b)
		if elems == 1 {
			return "1 element"
		}
		return strconv.Itoa(elems) + " elements"
	}
	return text(n, b)
}

// appendFields appends the fields of a struct, up to a limit.
func appendFields(dst []byte, n state.Node, b []byte) []byte {
	for i := range n.NumFields() {
		f := n.Field(i)
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxText/2 {
			return append(dst, "…"...)
		}
		dst = append(append(dst, f.Name()...), ": "...)
		switch {
		case f.Kind() == state.Struct && f.NumFields() <= 3:
			dst = append(appendFields(append(dst, '{'), f, b), '}')
		case f.Kind() == state.Struct:
			dst = append(dst, "{…}"...)
		default:
			dst = append(dst, summary(f, b)...)
		}
		b = b[f.SizeOf(b):]
	}
	return dst
}
