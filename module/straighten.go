package module

import (
	"encoding/binary"
	"slices"
)

// Faster returns a module of [FromGo] in a form that does the same faster, by a quarter in a match of skirmish. ok is false if no
// function has the form in which Go's compiler writes jumps. Nothing promises that form, so compare matches of both modules, as
// samestep rules build does.
//
// Go's compiler writes a function with jumps as one loop around a table. Each jump sets a local variable, the counter, to the number of
// a part of the function and goes to the head of the loop, where the table leads to the part. So a compiler of WebAssembly takes
// every local variable for one that changes with each jump, and moves all of them. Faster makes each jump forward direct, and
// each loop of the program a loop of its own.
func Faster(module []byte) (faster []byte, ok bool) {
	s, err := parseSections(module)
	if err != nil {
		return nil, false
	}
	functions, err := s.functionTypes()
	if err != nil {
		return nil, false
	}
	err = s.rewrite(sectionCode, func(r *reader) []byte {
		out := binary.AppendUvarint(nil, uint64(r.number()))
		for _, f := range functions {
			body := r.bytes(r.number())
			if straight := straighten(body, len(f.parameters)); straight != nil {
				ok, body = true, straight
			}
			out = appendSized(out, body)
		}
		return out
	})
	return s.append(nil), ok && err == nil
}

// straighten returns the body of a function in the faster form, or nil if it has another form than that of Go's compiler.
func straighten(body []byte, parameters int) []byte {
	r := &reader{rest: body}
	r.locals()
	declared := body[:len(body)-len(r.rest)]
	code := r.instructions()
	if r.err != nil || parameters != 1 {
		return nil
	}
	d := findDispatch(code)
	if d == nil {
		return nil
	}
	return slices.Concat(declared, slices.Concat(d.straight()...))
}

// Local variables in the code of Go's compiler.
const (
	counter = 0 // the parameter: 0, or the number of the part at which it goes on
	frame   = 1 // the address of the function's frame
)

// callBegin is the beginning of a call: it stores where the function goes on.
var callBegin = []instruction{
	instructionOf(opLocalGet, frame), constantOf(opI32Const, 8), {opI32Sub}, instructionOf(opLocalTee, frame),
	instructionOf(opGlobalSet, 0), instructionOf(opLocalGet, frame), nil, {opI64Store, 3, 0},
}

func beginsCall(code []instruction) bool {
	for i, want := range callBegin {
		if i >= len(code) || want != nil && string(code[i]) != string(want) {
			return false
		}
	}
	return code[len(callBegin)-2].op() == opI64Const
}

// at returns an instruction, or an end behind the code.
func at(code []instruction, i int) instruction {
	if i >= 0 && i < len(code) {
		return code[i]
	}
	return instruction{opEnd}
}

// A dispatch is a function with a table of jumps.
type dispatch struct {
	code    []instruction
	head    int      // the instruction that is the loop
	table   []int    // the parts of the counter's values; the last is that of all other values
	parts   [][2]int // the instructions of each part: the first, and the one behind the last
	jumps   []jump
	entries []bool // whether a part may follow the table
}

// A jump goes from a part to another, to which a value of the counter leads.
type jump struct{ at, from, to, value int }

// findDispatch returns the table of a function, or nil if the code has another form.
func findDispatch(code []instruction) *dispatch {
	d := &dispatch{code: code, head: slices.IndexFunc(code, func(i instruction) bool { return i.op() == opLoop })}
	if d.head < 0 {
		return nil
	}
	table := d.head + 1
	for at(code, table).op() == opBlock {
		table++
	}
	blocks := table - d.head - 1
	get, choose, end := at(code, table), at(code, table+1), at(code, table+2)
	if blocks == 0 || get.op() != opLocalGet || get.number() != counter || choose.op() != opBrTable || end.op() != opEnd {
		return nil
	}
	r := &reader{rest: choose[1:]}
	for n := r.number(); n >= 0; n-- {
		d.table = append(d.table, r.number())
	}
	if slices.Max(d.table) >= blocks || !d.findParts(table+3, blocks) {
		return nil
	}
	d.findJumps()
	if !d.findEntries() {
		return nil
	}
	return d
}

// findParts finds the parts, the first of which begins at an instruction. It returns false if one does more than jump with the
// counter or leave the loop.
func (d *dispatch) findParts(at, parts int) bool {
	depth := 0
	for i := at; i < len(d.code); i++ {
		switch op := d.code[i].op(); {
		case d.code[i].opens():
			depth++
		case op == opEnd && depth > 0:
			depth--
		case op == opEnd:
			d.parts = append(d.parts, [2]int{at, i})
			at = i + 1
			if len(d.parts) == parts {
				return true
			}
		case op == opBr || op == opBrIf:
			if label := d.code[i].number() - depth; label >= 0 && label < parts-1-len(d.parts) {
				return false
			}
		case op == opBrTable:
			return false
		}
	}
	return false
}

// jump returns the counter's value if the instructions at i are a jump. They are in a part, inside of some blocks.
func (d *dispatch) jump(i, part, depth int) (value int, ok bool) {
	if i+2 >= len(d.code) || d.code[i].op() != opI32Const || d.code[i+1].op() != opLocalSet || d.code[i+2].op() != opBr {
		return 0, false
	}
	ok = d.code[i+1].number() == counter && d.code[i+2].number() == depth+len(d.parts)-1-part
	return int(d.code[i].constant()), ok
}

// part returns the part to which a value of the counter leads.
func (d *dispatch) part(value int) int {
	if value < 0 || value >= len(d.table) {
		value = len(d.table) - 1
	}
	return d.table[value]
}

func (d *dispatch) findJumps() {
	for part, p := range d.parts {
		depth := 0
		for i := p[0]; i < p[1]; i++ {
			if d.code[i].opens() {
				depth++
			} else if d.code[i].op() == opEnd {
				depth--
			} else if value, ok := d.jump(i, part, depth); ok {
				d.jumps = append(d.jumps, jump{i, part, d.part(value), value})
			}
		}
	}
}

// findEntries finds the parts at which the function begins or goes on: the first, those behind calls, and those that begin with one,
// because a function that recovers from a panic goes on there. It returns false if a part is none of them and no jump leads to it: the
// function goes on in a way that this package does not know.
func (d *dispatch) findEntries() bool {
	d.entries = make([]bool, len(d.parts))
	d.entries[d.part(0)] = true
	follows := make([]bool, len(d.parts)) // a jump
	direct := map[int]bool{}
	for _, j := range d.jumps {
		direct[j.at+1], follows[j.to] = true, true
	}
	for i, in := range d.code {
		switch op := in.op(); {
		case beginsCall(d.code[i:]):
			d.entries[d.part(int(d.code[i+6].constant()&0xffff))] = true
		case op != opLocalSet && op != opLocalTee || in.number() != counter || direct[i]:
		case at(d.code, i+3).op() == opCallIndirect: // the variable has something else for a moment
		case at(d.code, i-1).op() == opI32Const:
			d.entries[d.part(int(d.code[i-1].constant()))] = true
		default:
			return false
		}
	}
	for part, p := range d.parts {
		code := d.code[p[0]:p[1]]
		for len(code) > 0 && code[0].op() == opNop {
			code = code[1:]
		}
		d.entries[part] = d.entries[part] || beginsCall(code)
		// Go's compiler begins a part behind each jump with a condition, and an empty one at the end.
		conditional := at(d.code, p[0]-2).op() == opEnd && at(d.code, p[0]-3).op() == opBr
		empty := len(code) == 0 || code[0].op() == opUnreachable
		if !d.entries[part] && !follows[part] && !conditional && !empty {
			return false
		}
	}
	return true
}

// A level is a loop of the program: the parts from the one to which jumps go back, to the last with such a jump.
type level struct {
	first, last int
	value       int // of the counter, that leads to the first part; -1 for a single part, and for the whole function
	inner       []*level
}

func (l *level) has(part int) bool { return part >= l.first && part <= l.last }

// levels returns the whole function as a level, with the loops of the program in it. If two loops overlap, the first is extended, so
// that it contains the second.
func (d *dispatch) levels() *level {
	loops := make([]*level, len(d.parts)) // by their first parts
	for _, j := range d.jumps {
		if j.to <= j.from {
			loops[j.to] = &level{first: j.to, last: j.from, value: j.value}
		}
	}
	all := &level{last: len(d.parts) - 1, value: -1}
	open := []*level{all}
	for _, l := range loops[1:] {
		if l == nil {
			continue
		}
		for !open[len(open)-1].has(l.first) {
			open = open[:len(open)-1]
		}
		for _, o := range open {
			o.last = max(o.last, l.last)
		}
		top := open[len(open)-1]
		top.inner = append(top.inner, l)
		open = append(open, l)
	}
	for _, j := range d.jumps {
		d.entries[j.to] = d.entries[j.to] || all.enters(j.from, j.to)
	}
	return all
}

// enters reports whether a jump goes from outside of a loop to one of its parts that is not the first.
func (l *level) enters(from, to int) bool {
	if !l.has(to) {
		return false
	}
	if !l.has(from) && l.first != to {
		return true
	}
	return slices.ContainsFunc(l.inner, func(i *level) bool { return i.enters(from, to) })
}

// units returns the parts of a level and its inner levels, in order.
func (l *level) units() (all []*level) {
	inner := l.inner
	for part := l.first; part <= l.last; part++ {
		if len(inner) > 0 && inner[0].first == part {
			all = append(all, inner[0])
			part, inner = inner[0].last, inner[1:]
			continue
		}
		all = append(all, &level{first: part, last: part, value: -1})
	}
	return all
}

// unitOf returns the number of the unit with a part, or -1.
func unitOf(units []*level, part int) int {
	return slices.IndexFunc(units, func(u *level) bool { return u.has(part) })
}

// A label is one to which the new code can jump.
type label struct {
	level *level
	unit  int // the number of the unit that begins there; -1: the level itself, from its beginning
}

// A straightener writes the new code of a dispatch.
type straightener struct {
	*dispatch
	out    []instruction
	again  bool    // a jump leads to the head of the loop around all parts
	labels []label // of the open blocks; those that parts open have no level
	around []place // from the outermost to the innermost
}

// A place is a level with the unit that is being written.
type place struct {
	level *level
	units []*level
	unit  int
}

func (d *dispatch) straight() []instruction {
	s := &straightener{dispatch: d, out: slices.Clone(d.code[:d.head])}
	s.level(d.levels())
	if !s.again {
		s.out[d.head] = instruction{opBlock, blockWithoutResult}
	}
	return append(s.out, d.code[d.parts[len(d.parts)-1][1]+1:]...)
}

func (s *straightener) add(i ...instruction) { s.out = append(s.out, i...) }

func (s *straightener) open(op byte, l label) {
	s.add(instruction{op, blockWithoutResult})
	s.labels = append(s.labels, l)
}

func (s *straightener) end() {
	s.add(instruction{opEnd})
	s.labels = s.labels[:len(s.labels)-1]
}

func (s *straightener) level(l *level) {
	units := l.units()
	s.around = append(s.around, place{l, units, 0})
	s.open(opLoop, label{l, -1})
	for i := len(units) - 1; i > 0; i-- {
		s.open(opBlock, label{l, i})
	}
	if s.chooses(l) {
		s.open(opBlock, label{l, 0})
		s.open(opBlock, label{})
		s.tableOf(l, units)
		s.end()
		s.add(instruction{opUnreachable})
		s.end()
	}
	for i, u := range units {
		s.around[len(s.around)-1].unit = i
		if u.value >= 0 {
			s.level(u)
		} else {
			s.part(u.first)
		}
		if i+1 == len(units) {
			break
		}
		if next := units[i+1]; next.value >= 0 && s.chooses(next) { // it does not follow a table
			s.add(constantOf(opI32Const, int64(next.value)), instructionOf(opLocalSet, counter))
		}
		s.end()
	}
	s.end()
	s.around = s.around[:len(s.around)-1]
}

// chooses reports whether a level begins with a table.
func (s *straightener) chooses(l *level) bool {
	return l.value < 0 || slices.Contains(s.entries[l.first+1:l.last+1], true)
}

// tableOf writes the table of a level.
func (s *straightener) tableOf(l *level, units []*level) {
	rest := len(s.table) - 1 // the number of the entry for all other values
	first, last := rest, 0
	for value, part := range s.table[:rest] {
		if l.has(part) {
			first, last = min(first, value), max(last, value)
		}
	}
	if first > last || l.has(s.table[rest]) {
		first, last = 0, rest-1
	}
	s.add(instructionOf(opLocalGet, counter))
	if first > 0 {
		s.add(constantOf(opI32Const, int64(first)), instruction{opI32Sub})
	}
	table := instructionOf(opBrTable, last-first+1)
	for _, part := range append(slices.Clone(s.table[first:last+1]), s.table[rest]) {
		to := 0 // it never happens
		if s.entries[part] || part == l.first {
			to = unitOf(units, part) + 1
		}
		table = binary.AppendUvarint(table, uint64(to))
	}
	s.add(table)
}

func (s *straightener) part(part int) {
	depth := 0
	for i := s.parts[part][0]; i < s.parts[part][1]; i++ {
		in := s.code[i]
		if value, ok := s.jump(i, part, depth); ok {
			s.add(in, s.code[i+1], instructionOf(opBr, s.depth(s.target(s.dispatch.part(value)))))
			i += 2
			continue
		}
		switch {
		case in.opens():
			depth++
			s.labels = append(s.labels, label{})
		case in.op() == opEnd:
			depth--
			s.labels = s.labels[:len(s.labels)-1]
		case in.op() == opBr || in.op() == opBrIf:
			if to := in.number() - depth; to >= 0 { // out of the part: to the head of the loop, or out of that
				to -= len(s.parts) - 1 - part
				s.again = s.again || to == 0
				in = instructionOf(in.op(), len(s.labels)-1+to)
			}
		}
		s.add(in)
	}
}

// target returns the label that leads to a part.
func (s *straightener) target(part int) label {
	for _, p := range slices.Backward(s.around) {
		switch unit := unitOf(p.units, part); {
		case unit > p.unit:
			return label{p.level, unit}
		case unit >= 0:
			return label{p.level, -1}
		}
	}
	panic("module: a part is in no level")
}

// depth returns how many blocks are between the end of the code and a label.
func (s *straightener) depth(l label) int {
	s.again = s.again || l == s.labels[0]
	return len(s.labels) - 1 - slices.Index(s.labels, l)
}
