package inspect

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

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

// Search looks for fields whose path with indexes and value, as in "Units[3].Health = 12", have all words of a query. Upper and lower
// case are the same.
func (s *Snapshot) Search(query string) Found {
	f := &finder{Found: Found{Hits: []Hit{}}}
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		f.words = append(f.words, []byte(word))
	}
	if len(f.words) > 0 && s.schema != nil {
		f.look(s.schema.Root(), s.now)
		name := s.schema.Names(s.now)
		for i := range f.Hits {
			f.Hits[i].Path = name(f.Hits[i].Path)
		}
	}
	return f.Found
}

// A finder walks through a state. Its path and line are reused for each field.
type finder struct {
	Found
	words [][]byte
	path  []byte
	line  []byte
}

// look looks at a value and returns the bytes after it, or nil if it has looked enough.
func (f *finder) look(n state.Node, b []byte) []byte {
	before := len(f.path)
	defer func() { f.path = f.path[:before] }()
	switch {
	case leaf(n):
		return f.leaf(n, b)
	case n.Kind() == state.Struct:
		for i := range n.NumFields() {
			field := n.Field(i)
			if before > 0 {
				f.path = append(f.path, '.')
			}
			f.path = append(f.path, field.Name()...)
			if b = f.look(field, b); b == nil {
				return nil
			}
			f.path = f.path[:before]
		}
		return b
	}
	elems, at := elements(n, b)
	b = b[at:]
	for i := range elems {
		f.path = append(strconv.AppendInt(append(f.path, '['), int64(i), 10), ']')
		if b = f.look(n.Elem(), b); b == nil {
			return nil
		}
		f.path = f.path[:before]
	}
	return b
}

func (f *finder) leaf(n state.Node, b []byte) []byte {
	if f.Searched == maxSearched || len(f.Hits) == maxHits {
		f.More = true
		return nil
	}
	f.Searched++
	value := text(n, b)
	f.line = append(append(append(f.line[:0], f.path...), " = "...), value...)
	line := bytes.ToLower(f.line)
	for _, word := range f.words {
		if !bytes.Contains(line, word) {
			return b[size(n, b):]
		}
	}
	f.Hits = append(f.Hits, Hit{string(f.path), value})
	return b[size(n, b):]
}
