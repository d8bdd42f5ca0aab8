package state

import "fmt"

// Gap is memory within the elements of a slice or array that is not a part of the state: padding, or a derived field.
// Elements without gaps move and hash as one block, others field by field, which takes several times as long.
type Gap struct {
	Path  string // of the struct, such as "Units[]"
	After string // the field before the gap
	Bytes int
}

// String returns the gap as "Units[]: 4 bytes after Alive".
func (g Gap) String() string { return fmt.Sprintf("%s: %d bytes after %s", g.Path, g.Bytes, g.After) }

// Gaps returns the gaps in T on this machine, for a test that keeps the types of many elements free of them: order the
// fields from large to small, and fill up the end. Elements with slices or strings in them never are one block and are
// left out.
func (c *Codec[T]) Gaps() []Gap {
	var gaps []Gap
	s := c.schema
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.kind != Struct || !n.fixed || !s.repeated(i) {
			continue
		}
		fields := s.fieldsOf(n)
		for k, f := range fields {
			next := c.places[i].typ.Size()
			if k+1 < len(fields) {
				next = c.places[fields[k+1]].offset
			}
			//samestep:allow pointer these are sizes, and gaps are those of this machine
			if end := c.places[f].offset + c.places[f].typ.Size(); end < next {
				gaps = append(gaps, Gap{c.places[i].path, s.nodes[f].name, int(next - end)})
			}
		}
	}
	return gaps
}

// repeated reports whether node i is in a slice or array.
func (s *Schema) repeated(i int) bool {
	for parent := s.nodes[i].parent; parent >= 0; parent = s.nodes[parent].parent {
		if kind := s.nodes[parent].kind; kind == Array || kind == Slice {
			return true
		}
	}
	return false
}
