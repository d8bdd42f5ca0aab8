package module

import "slices"

// A dispatch is a function with a table of jumps.
type dispatch struct {
	code    []instruction
	head    int      // the instruction that is the loop
	table   []int    // the parts of the counter's values; the last is that of all other values
	parts   [][2]int // the instructions of each part: the first, and the one behind the last
	jumps   []jump
	entries []bool       // whether a part may follow the table
	copied  map[int]bool // the jumps in whose place the next part is written
}

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

// A level is a loop of the program: the parts from the one to which jumps go back, to the last with such a jump.
type level struct {
	first, last int
	value       int // of the counter, that leads to the first part
	inner       []*level
}

func (l *level) has(part int) bool { return part >= l.first && part <= l.last }

// findJumps finds the jumps of all parts.
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

// A jump goes from a part to another, to which a value of the counter leads.
type jump struct{ at, from, to, value int }

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

// levels returns the whole function as a level, with the loops of the program in it. If two loops overlap, the first is extended, so that it contains the second.
func (d *dispatch) levels() *level {
	d.copied = map[int]bool{}
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
		if all.enters(j.from, j.to) {
			if d.copyable(all, j) {
				d.copied[j.at] = true
			} else {
				d.entries[j.to] = true
			}
		}
	}
	return all
}

// maxCopy is the number of instructions of a part that is written twice.
const maxCopy = 64

// copyable reports whether a copy of the part to which a jump leads can take the place of the jump. Go's compiler puts the condition of a
// loop to its end, and begins with a jump to it.
func (d *dispatch) copyable(all *level, j jump) bool {
	if d.parts[j.to][1]-d.parts[j.to][0] > maxCopy || j.to < j.from || j.to+1 == len(d.parts) || all.enters(j.from, j.to+1) {
		return false
	}
	return !slices.ContainsFunc(d.jumps, func(next jump) bool { return next.from == j.to && all.enters(j.from, next.to) })
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
