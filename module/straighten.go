package module

import (
	"encoding/binary"
	"slices"
)

// straightenAll rewrites the section with the bodies of all functions.
func straightenAll(r *reader, functions []functionType) []byte {
	n := r.number()
	if n != len(functions) {
		r.fail("got %d bodies of functions, want %d", n, len(functions))
	}
	out := binary.AppendUvarint(make([]byte, 0, len(r.rest)+len(r.rest)/8), uint64(n))
	for i := 0; i < n && r.err == nil; i++ {
		body, err := straighten(r.bytes(r.number()), len(functions[i].parameters))
		if err != nil && r.err == nil {
			r.fail("function %d: %w", i, err)
		}
		out = appendSized(out, body)
	}
	return out
}

// straighten returns the body of a function that Go's compiler wrote in a form that does the same faster.
//
// Go's compiler writes a function with jumps as one loop around a table. Each jump sets a local variable, the counter, to the number of
// a part of the function and goes to the head of the loop, where the table leads to the part. So a compiler of WebAssembly takes
// every local variable for one that changes with each jump, and moves all of them. straighten makes each jump forward direct, and
// each loop of the program a loop of its own.
func straighten(body []byte, parameters int) ([]byte, error) {
	if parameters != 1 {
		return body, nil
	}
	r := &reader{rest: body}
	groups, locals := r.number(), parameters
	start := r.rest
	for n := groups; n > 0 && r.err == nil; n-- {
		locals += r.number()
		r.valueType()
	}
	declared := start[:len(start)-len(r.rest)]
	code := r.instructions()
	if r.err != nil {
		return nil, r.err
	}
	if d := findDispatch(code); d != nil {
		code = d.straight()
	}
	code = shorten(code, locals)
	out := binary.AppendUvarint(nil, uint64(groups+len(newLocals)/2))
	out = append(append(out, declared...), newLocals...)
	for _, i := range code {
		out = append(out, i...)
	}
	return out, nil
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
	copies bool    // it writes a copy of a part
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

// straight returns the new code.
func (d *dispatch) straight() []instruction {
	s := &straightener{dispatch: d, out: slices.Clone(d.code[:d.head])}
	s.level(d.levels())
	if !s.again {
		s.out[d.head] = instruction{opBlock, blockWithoutResult}
	}
	s.out = append(s.out, d.code[d.parts[len(d.parts)-1][1]+1:]...)
	return s.out
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

// level writes a loop of the program.
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
		if i+1 < len(units) {
			s.enter(units[i+1])
			s.end()
		}
	}
	s.end()
	s.around = s.around[:len(s.around)-1]
}

// chooses reports whether a level begins with a table.
func (s *straightener) chooses(l *level) bool {
	return l.value < 0 || slices.Contains(s.entries[l.first+1:l.last+1], true)
}

// enter writes what goes before a unit that does not follow a table.
func (s *straightener) enter(u *level) {
	if u.value >= 0 && s.chooses(u) {
		s.add(constantOf(opI32Const, int64(u.value)), instructionOf(opLocalSet, counter))
	}
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

// unitOf returns the number of the unit with a part, or -1.
func unitOf(units []*level, part int) int {
	return slices.IndexFunc(units, func(u *level) bool { return u.has(part) })
}

// part writes a part.
func (s *straightener) part(part int) {
	depth := 0
	for i := s.parts[part][0]; i < s.parts[part][1]; i++ {
		in := s.code[i]
		if value, ok := s.jump(i, part, depth); ok {
			if to := s.dispatch.part(value); s.copied[i] && !s.copies {
				s.copies = true
				s.part(to)
				s.copies = false
				next := s.target(to + 1)
				s.enter(next.level.units()[next.unit])
				s.add(instructionOf(opBr, s.depth(next)))
			} else {
				s.add(in, s.code[i+1], instructionOf(opBr, s.depth(s.target(to))))
			}
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
