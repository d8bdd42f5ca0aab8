package module

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
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
	index := r.below("export", []int{g.functions, g.tables, 1, g.stop}[kind])
	if kind == exportFunction {
		g.exported[string(name)] = index
	}
	g.shared = g.shared || kind == exportMemory && string(name) == "memory"
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

// Limits of the code. A compiler takes memory for each local variable, time and memory with the square of the places in a function where
// branches begin or end, and for each value that is alive at such a place. The largest function of a game in Go has 30 KB, 1,700
// branches and 55,000 values at them; all of its functions have 34 million squares and 6.4 million values.
const (
	maxBody      = 256 << 10   // bytes of a function
	maxValues    = 10_000      // local variables and operands of a function
	maxAllLocals = 4_000_000   // of all functions
	maxBranches  = 6_000       // of a function
	maxWork      = 200_000_000 // the squares of the branches of all functions together
	maxLive      = 300_000     // the values at the branches of a function
	maxAllLive   = 50_000_000  // of all functions
)

// canonical returns the body of a function that returns its parameter, or one NaN for all.
func canonical(constant byte, nan []byte, equal byte) []byte {
	body := append([]byte{0, opLocalGet, 0, constant}, nan...)
	return append(body, opLocalGet, 0, opLocalGet, 0, equal, opSelect, opEnd)
}

// hostName begins the names of exports that guard adds.
const hostName = "samestep_host_"

// The names of the global variables that guard adds.
const (
	stopName   = hostName + "stop"   // the module traps soon after it is not 0
	leftName   = hostName + "left"   // passes until the next pause
	budgetName = hostName + "budget" // passes that the call may still do, at the last pause; the module traps if there are none
	depthName  = hostName + "depth"  // how much deeper calls may still go; the module traps if it is negative
)

// variableName returns the name under which guard exports a variable of the module.
func variableName(variable int) string { return hostName + strconv.Itoa(variable) }

// exports are what a module exports.
type exports struct {
	typed    []functionType // of all functions of the module
	exported map[string]int // the numbers of those that it exports, by name
	shared   bool           // it exports its memory as "memory"
}

// guarded is a module that guard rewrites.
type guarded struct {
	exports
	types, functions, tables int // of the module
	stop                     int // the number of the variable

	kinds     []functionType // of the module
	surveys   []survey       // of its functions
	slots     int            // local variables of all functions so far
	work      int            // squares of the branches, so far
	live      int64          // values at the branches, so far
	memory    int64          // bytes at first
	variables int            // of the module that were read
	mutable   []int          // the numbers of those that the module can change
	hidden    bool           // the module may change more than these and its memory
}

// A survey is what guard has to know of a function before it rewrites it.
type survey struct {
	calls  bool // it calls functions
	looped bool // a loop begins before all calls and branches
	frame  int  // how much a call in it goes deeper
}

// left, budget and depth return the numbers of the variables leftName, budgetName and depthName.
func (g *guarded) left() int   { return g.stop + 1 }
func (g *guarded) budget() int { return g.stop + 2 }
func (g *guarded) depth() int  { return g.stop + 3 }

func (g *guarded) pause() []byte { return binary.AppendUvarint([]byte{opCall}, uint64(g.functions+2)) }

// locals reads the local variables of a function, and returns their number.
func (r *reader) locals() (all int) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if all += r.number(); all > maxValues {
			r.fail("%w: got %d local variables, want at most %d", ErrLimit, all, maxValues)
		}
		r.valueType()
	}
	return all
}

// maxGap is the longest run of zeros, in bytes, that mergeData writes out between two segments.
const maxGap = 1 << 10

// mergeData joins the segments of a module's data that are close to each other. The linker of Go leaves out short runs of
// zeros, which makes tens of thousands of segments, and a module that takes long to load.
func mergeData(r *reader) []byte {
	whole := r.rest
	all, ok := r.segments()
	if !ok || len(all) == 0 {
		return whole
	}
	var merged []segment
	for _, s := range all {
		last := len(merged) - 1
		if last < 0 || s.at-merged[last].end() > maxGap {
			merged = append(merged, segment{s.at, slices.Clone(s.bytes)})
			continue
		}
		gap := make([]byte, s.at-merged[last].end())
		merged[last].bytes = append(append(merged[last].bytes, gap...), s.bytes...)
	}
	out := binary.AppendUvarint(nil, uint64(len(merged)))
	for _, s := range merged {
		out = appendSigned(append(out, 0, opI32Const), int64(s.at))
		out = appendSized(append(out, opEnd), s.bytes)
	}
	return out
}

// maxImage is the largest image of a memory, in bytes.
const maxImage = 64 << 20

// takeData takes the data out of the module and returns the first content of the memory. It reports false if the data are not
// simple or do not fit.
func (s *sections) takeData() (image []byte, ok bool) {
	if s.bodies[sectionDataCount] != nil { // instructions may name the segments
		return nil, false
	}
	all, ok := (&reader{rest: s.bodies[sectionData]}).segments()
	memory := &reader{rest: s.bodies[sectionMemory]}
	memory.bytes(2) // one memory, with a limit
	pages := memory.number()
	if !ok || len(all) > 0 && all[len(all)-1].end() > min(pages*pageBytes, maxImage) {
		return nil, false
	}
	if len(all) > 0 {
		image = make([]byte, all[len(all)-1].end())
	}
	for _, d := range all {
		copy(image[d.at:], d.bytes)
	}
	s.bodies[sectionData] = nil
	return image, true
}

// segments reads the section with the data, and returns its segments by their addresses. It reports whether they are simple:
// all are copied to fixed addresses, and none overlaps another.
func (r *reader) segments() (all []segment, ok bool) {
	if len(r.rest) == 0 {
		return nil, true
	}
	for n := r.number(); n > 0; n-- {
		s, ok := r.segment()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(all); i++ {
		if all[i].at < all[i-1].end() {
			return nil, false
		}
	}
	return all, r.err == nil
}

// A segment is a part of the memory's first content.
type segment struct {
	at    int
	bytes []byte
}

func (s *segment) end() int { return s.at + len(s.bytes) }

// segment reads a segment, and reports whether it is copied to a fixed address.
func (r *reader) segment() (s segment, ok bool) {
	if r.byte() != 0 || r.byte() != opI32Const {
		return s, false
	}
	s.at = int(int32(r.signed()))
	ok = r.byte() == opEnd && s.at >= 0
	s.bytes = r.bytes(r.number())
	return s, ok && r.err == nil
}
