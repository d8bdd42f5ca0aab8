package module

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of the parts of a module. Without them, a few bytes would make the compiler take memory for billions of parts. A module
// of a game in Go has 20 types, thousands of functions, one table with an element for each function that has an address, ten
// variables, and some segments of data.
const (
	maxTypes      = 10_000
	maxParameters = 128 // of a function or a block
	maxResults    = 8   // of a function or a block
	maxFunctions  = 100_000
	maxTables     = 8
	maxElements   = 262_144 // of a table, also when it grows; and of all segments for tables
	maxVariables  = 10_000
	maxExports    = 10_000
	maxSegments   = 100_000 // of data, and for tables
)

// A list is a section that is a list.
type list struct {
	section byte
	name    string // of its items
	most    int
	length  *int
	item    func(r *reader) // reads an item
}

// structure checks all sections but the code, and counts what the code refers to. The decoders of the machines take memory for
// the lengths that a section claims before they read it, so none may claim more than it has.
func (g *guarded) structure(s *sections) error {
	var ignored, elements int
	for _, l := range []list{
		{sectionType, "types", maxTypes, &g.types, (*reader).functionType},
		{sectionFunction, "functions", maxFunctions, &g.functions, func(r *reader) { r.below("type", g.types) }},
		{sectionTable, "tables", maxTables, &g.tables, func(r *reader) { r.table() }},
		{sectionGlobal, "variables", maxVariables, &g.stop, g.variable},
		{sectionExport, "exports", maxExports, &ignored, g.export},
		{sectionElement, "segments for tables", maxSegments, &ignored, func(r *reader) { g.elements(r, &elements) }},
		{sectionData, "segments of data", maxSegments, &ignored, (*reader).dataSegment},
	} {
		r := &reader{rest: s.bodies[l.section]}
		if len(r.rest) == 0 {
			continue
		}
		if *l.length = r.number(); *l.length > l.most {
			return fmt.Errorf("%w: got %d %s, want at most %d", ErrLimit, *l.length, l.name, l.most)
		}
		for i := 0; i < *l.length && r.err == nil; i++ {
			l.item(r)
		}
		if r.err == nil && len(r.rest) > 0 {
			r.fail("got %d bytes behind the %s, want none", len(r.rest), l.name)
		}
		if r.err != nil {
			return ofSection(l.section, r.err)
		}
	}
	s.names = functionNames(s.names, g.functions)
	return nil
}

func (r *reader) functionType() {
	r.one("a form of types", string(rune(formFunction)))
	for _, most := range []int{maxParameters, maxResults} {
		n := r.number()
		if n > most {
			r.fail("%w: got a type with %d parameters or results, want at most %d parameters and %d results", ErrLimit, n, maxParameters, maxResults)
		}
		for ; n > 0 && r.err == nil; n-- {
			r.valueType()
		}
	}
}

// table reads the type of a table, and returns its first and its largest number of elements.
func (r *reader) table() (kind byte, first, last int) {
	kind = r.one("a type of tables", referenceTypes)
	flags := r.one("flags of a table", "\x00\x01")
	first, last = r.number(), maxElements
	if flags == 1 {
		last = min(r.number(), last)
	}
	if first > maxElements {
		r.fail("%w: got a table of %d elements, want at most %d", ErrLimit, first, maxElements)
	}
	return kind, first, last
}

func (g *guarded) variable(r *reader) {
	reference := strings.IndexByte(referenceTypes, r.valueType()) >= 0
	if r.one("a kind of variables", "\x00\x01") == 1 {
		g.mutable = append(g.mutable, g.variables)
		g.hidden = g.hidden || reference
	}
	g.variables++
	r.constant(g.functions)
}

// constant reads an expression that is a constant.
func (r *reader) constant(functions int) {
	switch op := r.one("an instruction of a constant", "\x41\x42\x43\x44\xd0\xd2"); op {
	case opRefFunc:
		r.below("function", functions)
	default:
		r.immediates(op)
	}
	r.one("an end of a constant", "\x0b")
}

func (g *guarded) export(r *reader) {
	name := r.bytes(r.number())
	if bytes.HasPrefix(name, []byte(hostName)) {
		r.fail("got an export with the name %.64q, want none that begins with %s, which the host uses", name, hostName)
	}
	if !utf8.Valid(name) {
		r.fail("got an export with the name %.64q, want UTF-8", name)
	}
	kind := r.one("a kind of exports", "\x00\x01\x02\x03")
	r.below("export", []int{g.functions, g.tables, 1, g.stop}[kind])
}

// elements reads a segment for a table. Bits of its first number say whether it is not copied at the beginning, whether it names
// a table or has a type, and whether its elements are expressions.
func (g *guarded) elements(r *reader, all *int) {
	flags := r.number()
	if flags > 7 {
		r.fail("got a segment for a table with flags %#x, want at most 7", flags)
	}
	passive, explicit, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
	if !passive {
		if explicit {
			r.below("table", g.tables)
		}
		r.constant(g.functions)
	}
	switch {
	case (passive || explicit) && expressions:
		r.one("a type of elements", referenceTypes)
	case passive || explicit:
		r.one("a kind of elements", "\x00")
	}
	n := r.number()
	if *all += n; *all > maxElements {
		r.fail("%w: got %d elements of tables, want at most %d", ErrLimit, *all, maxElements)
	}
	for ; n > 0 && r.err == nil; n-- {
		if expressions {
			r.constant(g.functions)
		} else {
			r.below("function", g.functions)
		}
	}
}

func (r *reader) dataSegment() {
	switch r.one("flags of a segment of data", "\x00\x01\x02") {
	case 2:
		r.below("memory", 1)
		r.constant(0)
	case 0:
		r.constant(0)
	}
	r.bytes(r.number())
}

// maxName is the size of the longest name of a function that errors show, in bytes. The rest of a longer one is cut off: names of
// generic functions in Go have a few thousand.
const maxName = 1024

// functionNames returns the section with names, with those of functions only. It returns nil if they are malformed, because names
// say nothing about how the module runs.
func functionNames(section []byte, functions int) []byte {
	r := &reader{rest: section}
	r.bytes(r.number()) // "name"
	for len(r.rest) > 0 {
		id, part := r.byte(), &reader{}
		part.rest = r.bytes(r.number())
		if id != 1 || r.err != nil {
			continue
		}
		n := part.number()
		names := binary.AppendUvarint(nil, uint64(n))
		for ; n > 0 && part.err == nil; n-- {
			index, name := part.number(), part.bytes(part.number())
			if index >= functions || !utf8.Valid(name) {
				part.fail("got a bad name")
			}
			name = bytes.ToValidUTF8(name[:min(len(name), maxName)], nil) // which may end within a character
			names = appendSized(binary.AppendUvarint(names, uint64(index)), name)
		}
		if part.err != nil || len(part.rest) > 0 {
			return nil
		}
		return appendSized(append(appendSized(nil, []byte("name")), 1), names)
	}
	return nil
}
