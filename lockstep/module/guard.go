package module

import (
	"encoding/binary"
	"fmt"
)

// Limits of a module's parts, which bound the time to compile it and the memory of an instance.
const (
	maxLocals  = 50_000 // local variables of a function
	maxTable   = 1 << 20
	maxGlobals = 1 << 16

	// The compiler's time grows with the square of a function's branches and of its size: maxWork is the sum, over all functions,
	// of the squares of the branches and of each 16 bytes.
	maxWork = 1_000_000_000
)

// stopName is the name of the global variable that guard adds. The module traps soon after it is not 0.
const stopName = "samestep_stop"

// guard returns the module with code that makes it safe to run, and the same on every machine:
//
//   - Each loop, and each function that calls another, traps if the variable samestep_stop is not 0: so the host ends a call
//     that takes too long.
//   - The bits of a NaN, which depend on the processor, are the same wherever the module can see them: where a
//     floating-point number is stored, taken as an integer, or gives its sign.
//   - The memory has a limit, so that it cannot grow on one machine and not on another.
//
// It refuses imports, vectors, threads and all instructions that it does not know. It takes the first content of the memory out
// of the module, if that is possible, so that instances can share it.
func guard(module []byte) (safe, image []byte, err error) {
	s, err := parseSections(module)
	if err != nil {
		return nil, nil, err
	}
	if r := (&reader{rest: s.bodies[sectionImport]}); len(r.rest) > 0 && r.number() > 0 {
		from, name := r.bytes(r.number()), r.bytes(r.number())
		return nil, nil, fmt.Errorf("%w: %.64q of %.64q", ErrImports, name, from)
	}
	if s.bodies[sectionStart] != nil {
		return nil, nil, fmt.Errorf("%w: it has a start function, want one that it exports as _initialize", ErrMalformed)
	}
	g := &guarded{
		types:     count(s.bodies[sectionType]),
		functions: count(s.bodies[sectionFunction]),
		stop:      count(s.bodies[sectionGlobal]),
	}
	if g.stop > maxGlobals {
		return nil, nil, fmt.Errorf("%w: got %d variables, want at most %d", ErrLimit, g.stop, maxGlobals)
	}
	list := func(items ...[]byte) func(r *reader) []byte {
		return func(r *reader) []byte { return lengthened(r, nil, items) }
	}
	for _, part := range []struct {
		section byte
		f       func(r *reader) []byte
	}{
		{sectionType, list([]byte{formFunction, 1, typeF32, 1, typeF32}, []byte{formFunction, 1, typeF64, 1, typeF64})},
		{sectionFunction, list(binary.AppendUvarint(nil, uint64(g.types)), binary.AppendUvarint(nil, uint64(g.types+1)))},
		{sectionTable, limitTables},
		{sectionMemory, limitMemory},
		{sectionGlobal, list([]byte{typeI32, 1, opI32Const, 0, opEnd})},
		{sectionExport, list(binary.AppendUvarint(append(appendSized(nil, []byte(stopName)), 3), uint64(g.stop)))},
		{sectionCode, g.code},
	} {
		if err := s.rewrite(part.section, part.f); err != nil {
			return nil, nil, err
		}
	}
	image = s.takeData()
	return s.append(nil), image, nil
}

// count returns the length of the list that a section is.
func count(body []byte) int {
	if len(body) == 0 {
		return 0
	}
	return (&reader{rest: body}).number()
}

// limitMemory gives the memory a limit.
func limitMemory(r *reader) []byte {
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
	return binary.AppendUvarint(binary.AppendUvarint([]byte{1, 1}, uint64(first)), uint64(last))
}

// limitTables gives all tables a limit.
func limitTables(r *reader) []byte {
	if len(r.rest) == 0 {
		return nil
	}
	n := r.number()
	out := binary.AppendUvarint(nil, uint64(n))
	for ; n > 0 && r.err == nil; n-- {
		kind, flags, first, last := r.byte(), r.byte(), r.number(), maxTable
		if flags == 1 {
			last = min(r.number(), maxTable)
		} else if flags != 0 {
			r.fail("got a table with flags %#x, want 0 or 1", flags)
		}
		if first > maxTable {
			r.fail("%w: got a table of %d elements, want at most %d", ErrLimit, first, maxTable)
		}
		out = binary.AppendUvarint(append(out, kind, 1), uint64(first))
		out = binary.AppendUvarint(out, uint64(last))
	}
	return out
}

// guarded is a module that guard rewrites.
type guarded struct {
	types, functions int   // of the module
	stop             int   // the number of the variable
	work             int64 // see maxWork
}

// charge adds a function of a size with some branches to the work.
func (g *guarded) charge(r *reader, size, branches int64) {
	if g.work += branches*branches + size/16*(size/16); g.work > maxWork {
		r.fail("%w: the functions are too large to be compiled in time; got %d for the squares of their branches and of 16 bytes each, want at most %d", ErrLimit, g.work, maxWork)
	}
}

// code rewrites the section with the bodies of all functions.
func (g *guarded) code(r *reader) []byte {
	n := r.number()
	if n != g.functions {
		r.fail("got %d bodies of functions, want %d", n, g.functions)
		return nil
	}
	out := binary.AppendUvarint(make([]byte, 0, len(r.rest)+len(r.rest)/4), uint64(n+2))
	var body []byte
	for i := 0; i < n && r.err == nil; i++ {
		f := &reader{rest: r.bytes(r.number())}
		body = g.function(f, body[:0])
		if f.err != nil && r.err == nil {
			r.fail("function %d: %w", i, f.err)
		}
		out = appendSized(out, body)
	}
	out = appendSized(out, canonical(opF32Const, []byte{0, 0, 0xc0, 0x7f}, opF32Eq))
	return appendSized(out, canonical(opF64Const, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, opF64Eq))
}

// canonical returns the body of a function that returns its parameter, or one NaN for all.
func canonical(constant byte, nan []byte, equal byte) []byte {
	body := append([]byte{0, opLocalGet, 0, constant}, nan...)
	return append(body, opLocalGet, 0, opLocalGet, 0, equal, opSelect, opEnd)
}

// function appends the body of a function.
func (g *guarded) function(r *reader, dst []byte) []byte {
	whole := r.rest
	locals := 0
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if locals += r.number(); locals > maxLocals {
			r.fail("%w: got %d local variables, want at most %d", ErrLimit, locals, maxLocals)
		}
		r.byte()
	}
	dst = append(dst, whole[:len(whole)-len(r.rest)]...)
	start := len(dst)
	branching := int64(0)
	calls, branches, looped := false, false, false // looped: a loop begins before all calls and branches
	for len(r.rest) > 0 {
		at := r.rest
		op := r.byte()
		r.immediates(op)
		switch op {
		case opCall, opCallIndirect:
			calls = true
		case opGlobalGet, opGlobalSet:
			if n := (&reader{rest: at[1:]}).number(); n >= g.stop {
				r.fail("got variable %d, want one below %d", n, g.stop)
			}
		case opF32Store, opF32Copysign, opI32ReinterpretF:
			dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions))
		case opF64Store, opF64Copysign, opI64ReinterpretF:
			dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions+1))
		}
		dst = append(dst, at[:len(at)-len(r.rest)]...)
		branching += branchesOf(op, at)
		branches = branches || calls || op >= opBr && op <= opReturn || op == opIf
		if op == opLoop {
			dst = append(dst, g.check()...)
			looped = looped || !branches
		}
	}
	g.charge(r, int64(len(whole)), branching)
	if calls && !looped {
		dst = append(dst[:start], append(g.check(), dst[start:]...)...)
	}
	return dst
}

// check returns code that traps if the variable is not 0.
func (g *guarded) check() []byte {
	return append(binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.stop)), opIf, blockWithoutResult, opUnreachable, opEnd)
}
