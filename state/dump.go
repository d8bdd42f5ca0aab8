package state

import (
	"encoding/json"
	"io"
	"slices"
)

// dumpBytes is how much text is buffered between writes.
const dumpBytes = 32 << 10

// Dump validates b and writes it as text for people: one line for each field and each element of a slice, indented by
// depth. Elements have the names of [Schema.Names]. Small structs and arrays take one line. The error is a [*DecodeError] or w's.
//
//	Tick: 120
//	Units: 2 elements
//	  [ID=1]: {ID: 1, Pos: {X: 12.5, Y: 3}, Alive: true}
//	  [ID=2]: {ID: 2, Pos: {X: 0, Y: -0.25}, Alive: false}
func (s *Schema) Dump(w io.Writer, b []byte) error {
	if err := s.Validate(b); err != nil {
		return err
	}
	d := dumper{s: s, w: w}
	d.fields(0, b, 0)
	d.flush()
	return d.err
}

// dumper writes text; it keeps its first error.
type dumper struct {
	s   *Schema
	w   io.Writer
	buf []byte
	err error

	inList bool // the elements of lists in lists keep their indexes
}

func (d *dumper) flush() {
	if d.err == nil && len(d.buf) > 0 {
		//samestep:allow unseen nothing comes back from the writer of a dump
		_, d.err = d.w.Write(d.buf)
	}
	d.buf = d.buf[:0]
}

func (d *dumper) text(s string) { d.buf = append(d.buf, s...) }

func (d *dumper) indent(depth int) {
	if len(d.buf) >= dumpBytes {
		d.flush()
	}
	for range depth {
		d.text("  ")
	}
}

// fields writes the fields of struct i, one per line, and returns the bytes after it.
func (d *dumper) fields(i int, b []byte, depth int) []byte {
	for _, f := range d.s.fieldsOf(&d.s.nodes[i]) {
		d.indent(depth)
		d.text(d.s.nodes[f].name)
		b = d.value(int(f), b, depth)
	}
	return b
}

// value writes the value of node i after its name and returns the bytes after the value.
func (d *dumper) value(i int, b []byte, depth int) []byte {
	n := &d.s.nodes[i]
	d.text(":")
	if d.s.inline(i) {
		d.text(" ")
		b = d.inlineValue(i, b)
		d.text("\n")
		return b
	}
	if n.kind == Struct {
		d.text("\n")
		return d.fields(i, b, depth+1)
	}
	list, ids := Node{d.s, int32(i)}, []uint64(nil)
	if !d.inList {
		ids, d.inList = (Value{Node: list, Bytes: b}).IDs(), true
		defer func() { d.inList = false }()
	}
	elems, at := d.s.elems(i, b)
	b = b[at:]
	d.buf = append(appendElements(append(d.buf, ' '), elems), '\n')
	perLine := 1
	if k := d.s.nodes[i+1].kind; k.leaf() && k != String { // rows of a table
		perLine = 16
	}
	for j := range elems {
		if j%perLine == 0 {
			d.indent(depth + 1)
			d.text(list.Step(j, ids))
		}
		if perLine == 1 {
			b = d.value(i+1, b, depth+1)
			continue
		}
		if j%perLine == 0 {
			d.text(":")
		}
		d.text(" ")
		b = d.inlineValue(i+1, b)
		if j%perLine == perLine-1 || j == elems-1 {
			d.text("\n")
		}
	}
	return b
}

// inlineValue writes the value of node i within the current line and returns the bytes after it.
func (d *dumper) inlineValue(i int, b []byte) []byte {
	n := &d.s.nodes[i]
	switch n.kind {
	case Struct:
		for k, f := range d.s.fieldsOf(n) {
			d.text(separator(k, "{"))
			d.text(d.s.nodes[f].name)
			d.text(": ")
			b = d.inlineValue(int(f), b)
		}
		d.text("}")
		return b
	case Array:
		for k := range n.count {
			d.text(separator(k, "["))
			b = d.inlineValue(i+1, b)
		}
		d.text("]")
		return b
	}
	d.buf = n.appendText(d.buf, b)
	return b[d.s.skip(i, b):]
}

func separator(k int, open string) string {
	if k == 0 {
		return open
	}
	return ", "
}

// maxInline is the maximum number of leaves in one line of a dump.
const maxInline = 16

// inline reports whether values of node i fit into one line: they have few leaves and no slice.
func (s *Schema) inline(i int) bool { return s.leafCount(i) <= maxInline }

// leafCount returns the number of leaves of a value of node i, and maxInline+1 if it has more or has a slice.
func (s *Schema) leafCount(i int) int {
	n := &s.nodes[i]
	switch n.kind {
	case Slice:
		return maxInline + 1
	case Array:
		return min(min(n.count, maxInline+1)*s.leafCount(i+1), maxInline+1)
	case Struct:
		leaves := 0
		for _, f := range s.fieldsOf(n) {
			if leaves += s.leafCount(int(f)); leaves > maxInline {
				break
			}
		}
		return min(leaves, maxInline+1)
	}
	return 1
}

// DumpJSON validates b and writes it as one JSON object and a newline. A fixed-point number becomes the shortest decimal
// that reads back as the same number. Every 64-bit number, fixed-point or not, becomes a string, because many JSON readers
// round numbers beyond 53 bits; and so does a float that is infinite or a NaN. Bytes of strings that are not UTF-8 become U+FFFD. The error is a [*DecodeError] or w's.
func (s *Schema) DumpJSON(w io.Writer, b []byte) error {
	if err := s.Validate(b); err != nil {
		return err
	}
	d := dumper{s: s, w: w}
	d.json(0, b)
	d.text("\n")
	d.flush()
	return d.err
}

// json writes the value of node i and returns the bytes after it.
func (d *dumper) json(i int, b []byte) []byte {
	d.indent(0)
	n := &d.s.nodes[i]
	switch n.kind {
	case Struct:
		d.text("{")
		for k, f := range d.s.fieldsOf(n) {
			if k > 0 {
				d.text(",")
			}
			d.buf = appendJSONString(d.buf, d.s.nodes[f].name)
			d.text(":")
			b = d.json(int(f), b)
		}
		d.text("}")
		return b
	case Array, Slice:
		elems, at := d.s.elems(i, b)
		b = b[at:]
		d.text("[")
		for j := range elems {
			if j > 0 {
				d.text(",")
			}
			b = d.json(i+1, b)
		}
		d.text("]")
		return b
	case String:
		size := countSize + count(b)
		d.buf = appendJSONString(d.buf, string(b[countSize:size]))
		return b[size:]
	}
	text := len(d.buf)
	d.buf = n.appendText(d.buf, b)
	if n.kind == Int64 || n.kind == Uint64 || n.kind.Float() && !json.Valid(d.buf[text:]) {
		d.buf = append(slices.Insert(d.buf, text, '"'), '"')
	}
	return b[n.size:]
}

// appendJSONString appends s in quotes.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
