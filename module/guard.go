package module

import (
	"encoding/binary"
	"fmt"
)

// guard returns the module with code that makes it safe to run, and the same on every machine:
//
//   - Each loop, each function that calls another and each long copy of memory pauses after some passes, so that Go can stop it
//     for a moment. It traps there if the variable samestep_host_stop is not 0, or if the call has done as many passes as the host
//     has set: so the host ends a call that takes too long.
//   - The bits of a NaN, which depend on the processor, are the same wherever the module can see them: where a
//     floating-point number is stored, taken as an integer, or gives its sign.
//   - The memory has a limit, so that it cannot grow on one machine and not on another.
//
// It refuses imports, vectors, threads and all instructions that it does not know. It takes the first content of the memory out
// of the module, if that is possible, so that instances can share it, and exports the variables.
func guard(module []byte) (*safe, error) {
	s, err := parseSections(module)
	if err != nil {
		return nil, err
	}
	if r := (&reader{rest: s.bodies[sectionImport]}); len(r.rest) > 0 && r.number() > 0 {
		from, name := r.bytes(r.number()), r.bytes(r.number())
		return nil, fmt.Errorf("%w: %.64q of %.64q", ErrImports, name, from)
	}
	if s.bodies[sectionStart] != nil {
		return nil, fmt.Errorf("%w: it has a start function, want one that it exports as _initialize", ErrMalformed)
	}
	g := new(guarded)
	if err := g.structure(s); err != nil {
		return nil, err
	}
	g.kinds = (&reader{rest: s.bodies[sectionType]}).types()
	if g.typed, err = s.functionTypes(); err != nil {
		return nil, err
	}
	exports := [][]byte{exportOf(stopName, g.stop), exportOf(leftName, g.left()), exportOf(budgetName, g.budget()), exportOf(depthName, g.depth())}
	for _, v := range g.mutable {
		exports = append(exports, exportOf(variableName(v), v))
	}
	list := func(items ...[]byte) func(r *reader) []byte {
		return func(r *reader) []byte { return lengthened(r, nil, items) }
	}
	for _, part := range []struct {
		section byte
		f       func(r *reader) []byte
	}{
		{sectionType, list([]byte{formFunction, 1, typeF32, 1, typeF32}, []byte{formFunction, 1, typeF64, 1, typeF64}, []byte{formFunction, 0, 0}, []byte{formFunction, 1, typeI32, 1, typeI32})},
		{sectionFunction, list(binary.AppendUvarint(nil, uint64(g.types)), binary.AppendUvarint(nil, uint64(g.types+1)), binary.AppendUvarint(nil, uint64(g.types+2)), binary.AppendUvarint(nil, uint64(g.types+3)))},
		{sectionTable, limitTables},
		{sectionMemory, g.limitMemory},
		{sectionGlobal, list([]byte{typeI32, 1, opI32Const, 0, opEnd}, []byte{typeI32, 1, opI32Const, 0, opEnd}, []byte{typeI64, 1, opI64Const, 0, opEnd}, []byte{typeI32, 1, opI32Const, 0, opEnd})},
		{sectionExport, list(exports...)},
		{sectionCode, g.code},
	} {
		if err := s.rewrite(part.section, part.f); err != nil {
			return nil, err
		}
	}
	image, taken := s.takeData()
	return &safe{bytes: s.append(nil), image: image, variables: g.mutable, memory: g.memory, hidden: g.hidden || !taken}, nil
}

// code rewrites the section with the bodies of all functions.
func (g *guarded) code(r *reader) []byte {
	n := r.number()
	if n != g.functions {
		r.fail("got %d bodies of functions, want %d", n, g.functions)
		return nil
	}
	size, bodies := len(r.rest), make([][]byte, 0, n)
	for i := 0; i < n && r.err == nil; i++ {
		f := &reader{rest: r.bytes(r.number())}
		bodies = append(bodies, f.rest)
		g.surveys = append(g.surveys, g.survey(f, g.typed[i]))
		if f.err != nil && r.err == nil {
			r.fail("function %d: %w", i, f.err)
		}
	}
	if r.err == nil && len(r.rest) > 0 {
		r.fail("got %d bytes behind the functions, want none", len(r.rest))
	}
	if r.err != nil {
		return nil
	}
	out := binary.AppendUvarint(make([]byte, 0, size+size/4), uint64(n+4))
	var body []byte
	for i, code := range bodies {
		body = g.function(&reader{rest: code}, g.surveys[i], body[:0])
		out = appendSized(out, body)
	}
	out = appendSized(out, canonical(opF32Const, []byte{0, 0, 0xc0, 0x7f}, opF32Eq))
	out = appendSized(out, canonical(opF64Const, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, opF64Eq))
	out = appendSized(out, g.pausing())
	return appendSized(out, g.counting())
}

// A safe is a module that guard has rewritten.
type safe struct {
	bytes     []byte
	image     []byte // the first content of the memory; nil for zeros, or if the module writes it
	variables []int  // those that the module can change and that it exports by their variableName
	memory    int64  // bytes of the memory at first
	hidden    bool   // the module may change what is neither in its memory nor in these variables
}

// exportOf returns the export of a variable.
func exportOf(name string, variable int) []byte {
	return binary.AppendUvarint(append(appendSized(nil, []byte(name)), exportVariable), uint64(variable))
}

// limitTables gives all tables a limit.
func limitTables(r *reader) []byte {
	if len(r.rest) == 0 {
		return nil
	}
	n := r.number()
	out := binary.AppendUvarint(nil, uint64(n))
	for range n {
		kind, first, last := r.table()
		out = binary.AppendUvarint(binary.AppendUvarint(append(out, kind, 1), uint64(first)), uint64(last))
	}
	return out
}

// limitMemory gives the memory a limit.
func (g *guarded) limitMemory(r *reader) []byte {
	const most = MaxMemory / pageBytes
	if n := r.number(); n != 1 {
		r.fail("got %d memories, want 1", n)
		return nil
	}
	flags, first, last := r.byte(), r.number(), most
	if flags == 1 {
		last = min(r.number(), most)
	} else if flags != 0 {
		r.fail("got a memory with flags %#x, want one of 32 bits that no threads share", flags)
	}
	if first > most {
		r.fail("%w: got a memory of %d pages, want at most %d", ErrLimit, first, most)
	}
	g.memory = int64(first) * pageBytes
	return binary.AppendUvarint(binary.AppendUvarint([]byte{1, 1}, uint64(first)), uint64(last))
}
