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
	if len(module) > MaxBytes {
		return nil, fmt.Errorf("%w: got a module of %d bytes, want at most %d", ErrLimit, len(module), MaxBytes)
	}
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
	g := &guarded{exports: exports{exported: map[string]int{}}}
	if err := g.structure(s); err != nil {
		return nil, err
	}
	g.kinds = (&reader{rest: s.bodies[sectionType]}).types()
	if g.typed, err = s.functionTypes(); err != nil {
		return nil, err
	}
	added := [][]byte{exportOf(stopName, g.stop), exportOf(leftName, g.left()), exportOf(budgetName, g.budget()), exportOf(depthName, g.depth())}
	for _, v := range g.mutable {
		added = append(added, exportOf(variableName(v), v))
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
		{sectionExport, list(added...)},
		{sectionCode, g.code},
	} {
		if err := s.rewrite(part.section, part.f); err != nil {
			return nil, err
		}
	}
	image, taken := s.takeData()
	return &safe{exports: g.exports, bytes: s.append(nil), image: image, variables: g.mutable, memory: g.memory, hidden: g.hidden || !taken}, nil
}

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
	exports
	bytes     []byte
	image     []byte // the first content of the memory; nil for zeros, or if the module writes it
	variables []int  // those that the module can change and that it exports by their variableName
	memory    int64  // bytes of the memory at first
	hidden    bool   // the module may change what is neither in its memory nor in these variables
}

// checkExports checks what a module offers.
func (s *safe) checkExports() error {
	if !s.shared {
		return fmt.Errorf("%w: it exports no memory \"memory\"", ErrMalformed)
	}
	for _, w := range wantedFunctions {
		index, ok := s.exported[w.name]
		if !ok {
			return fmt.Errorf("%w: it exports no function %s", ErrMalformed, w.name)
		}
		if !s.typed[index].equal(w.functionType) {
			return fmt.Errorf("%w: its function %s has other types than in docs/spec/abi.md", ErrMalformed, w.name)
		}
	}
	if index, ok := s.exported["_initialize"]; ok && !s.typed[index].equal(functionType{}) {
		return fmt.Errorf("%w: its function _initialize has parameters or results, want none", ErrMalformed)
	}
	return nil
}

func exportOf(name string, variable int) []byte {
	return binary.AppendUvarint(append(appendSized(nil, []byte(name)), exportVariable), uint64(variable))
}

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

func (g *guarded) function(r *reader, of survey, dst []byte) []byte {
	whole := r.rest
	r.locals()
	dst = append(dst, whole[:len(whole)-len(r.rest)]...)
	switch {
	case of.calls && of.looped:
		dst = append(append(append(append(dst, g.tooDeep()...), opIf, blockWithoutResult), g.pause()...), opEnd)
	case of.calls:
		dst = append(dst, g.check(true)...)
	}
	short := false // the instruction before is a small number
	for len(r.rest) > 0 {
		at := r.rest
		r.immediates(r.byte())
		i := instruction(at[:len(at)-len(r.rest)])
		dst = g.before(i, dst, short)
		deeper := g.deeper(i)
		if deeper {
			dst = append(dst, g.descend(opI32Sub, of.frame)...)
		}
		dst = append(dst, i...)
		if deeper {
			dst = append(dst, g.descend(opI32Add, of.frame)...)
		}
		short = i.op() == opI32Const && i.constant() >= 0 && i.constant() <= shortBytes
		if i.op() == opLoop {
			dst = append(dst, g.check(false)...)
		}
	}
	return dst
}

// shortBytes is the size of the largest copy that is not counted, in bytes. It takes no longer than a few instructions.
const shortBytes = 4096

// before appends the code that goes before an instruction. short says that the last operand is a number up to shortBytes.
func (g *guarded) before(i instruction, dst []byte, short bool) []byte {
	switch i.op() {
	case opF32Store, opF32Copysign, opI32ReinterpretF:
		dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions))
	case opF64Store, opF64Copysign, opI64ReinterpretF:
		dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions+1))
	case opBulk:
		if takesLong(i[1]) && !short {
			dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions+3))
		}
	}
	return dst
}

// takesLong reports whether a bulk instruction works on as much memory or as many elements as its operands say.
func takesLong(bulk byte) bool {
	return bulk == 8 || bulk >= 10 && bulk <= 12 || bulk == 14 || bulk == 17
}

// changesTables reports whether an instruction changes a table, or a segment from which others fill tables.
func changesTables(instruction []byte) bool {
	return instruction[0] == opTableSet || instruction[0] == opBulk && instruction[1] >= 12 && instruction[1] != 16
}

// branchesOf returns how much an instruction adds to the number of branches, with the check that guard adds to it. The labels of a
// table cost less than others.
func branchesOf(instruction []byte) int {
	switch instruction[0] {
	case opBlock, opIf, opBr, opBrIf:
		return 1
	case opLoop:
		return 2
	case opBulk:
		if takesLong(instruction[1]) {
			return 2
		}
	case opBrTable:
		return 1 + (&reader{rest: instruction[1:]}).number()/8
	}
	return 0
}

// check returns code that calls pause after some passes, and with depth also if the call is too deep.
func (g *guarded) check(depth bool) []byte {
	left := binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.left()))
	code := append(append([]byte(nil), left...), opI32Const, 1, opI32Sub, opGlobalSet)
	code = append(append(binary.AppendUvarint(code, uint64(g.left())), left...), opI32Const, 0, opI32LeS)
	if depth {
		code = append(append(code, g.tooDeep()...), opI32Or)
	}
	return append(append(append(code, opIf, blockWithoutResult), g.pause()...), opEnd)
}

// counting returns the body of a function that returns its parameter, the size of a copy of memory or a table, and counts a pass for
// each KiB of it.
func (g *guarded) counting() []byte {
	left := binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.left()))
	body := append(append([]byte{0}, left...), opLocalGet, 0, opI32Const, 10, opI32ShrU, opI32Sub, opGlobalSet)
	body = append(binary.AppendUvarint(body, uint64(g.left())), g.check(false)...)
	return append(body, opLocalGet, 0, opEnd)
}

// pausing returns the body of the function that pauses. It traps if the variable stop is not 0, if the call is too deep, or if the
// passes since the last pause are all that the call may still do. Before that it leaves the compiled code for Go's, with a memory.grow by nothing: Go cannot
// interrupt compiled code, and to collect garbage it stops everything until that code comes back, also the timer that sets the variable.
func (g *guarded) pausing() []byte {
	body := []byte{0}
	if leavesCode {
		body = append(body, opI32Const, 0, opMemoryGrow, 0, opDrop)
	}
	body = append(binary.AppendUvarint(append(body, opGlobalGet), uint64(g.stop)), opIf, blockWithoutResult, opUnreachable, opEnd)
	body = append(append(body, g.tooDeep()...), opIf, blockWithoutResult, opUnreachable, opEnd)
	budget, left := uint64(g.budget()), uint64(g.left())
	body = appendSigned(append(binary.AppendUvarint(append(body, opGlobalGet), budget), opI32Const), pauseAfter)
	body = append(binary.AppendUvarint(append(body, opGlobalGet), left), opI32Sub, opI64ExtendU, opI64Sub, opGlobalSet)
	body = append(binary.AppendUvarint(append(binary.AppendUvarint(body, budget), opGlobalGet), budget), opI64Const, 0, opI64LeS)
	body = append(body, opIf, blockWithoutResult, opUnreachable, opEnd)
	body = append(appendSigned(append(body, opI32Const), pauseAfter), opGlobalSet)
	return append(binary.AppendUvarint(body, left), opEnd)
}

// survey reads the body of a function, and checks its limits. It refuses instructions that refer to what guard adds.
func (g *guarded) survey(r *reader, t functionType) (of survey) {
	size := len(r.rest)
	if size > maxBody {
		r.fail("%w: got %d bytes of code, want at most %d", ErrLimit, size, maxBody)
	}
	fixed := len(t.parameters) + r.locals()
	h := height{types: g.kinds, functions: g.typed}
	branches, live, branched := 0, int64(0), false
	for len(r.rest) > 0 {
		at := r.rest
		op := r.byte()
		r.immediates(op)
		if r.err != nil {
			return of
		}
		i := instruction(at[:len(at)-len(r.rest)])
		g.refuse(r, i)
		n := branchesOf(i)
		branches += n
		h.next(i)
		live += int64(n) * int64(fixed+h.now)
		of.calls = of.calls || op == opCall || op == opCallIndirect
		branched = branched || of.calls || op >= opBr && op <= opReturn || op == opIf
		of.looped = of.looped || op == opLoop && !branched
		g.hidden = g.hidden || changesTables(i)
	}
	values := fixed + h.most
	of.frame = 1 + values/frameValues + size/frameCode
	g.slots += fixed
	g.work += branches * branches
	g.live += live
	for _, l := range []struct {
		got, most int64
		what      string
	}{
		{int64(values), maxValues, "local variables and operands"},
		{int64(g.slots), maxAllLocals, "local variables of all functions"},
		{int64(branches), maxBranches, "branches"},
		{int64(g.work), maxWork, "squares of branches"},
		{live, maxLive, "values at branches"},
		{g.live, maxAllLive, "values at branches of all functions"},
	} {
		if l.got > l.most {
			r.fail("%w: got %d %s, want at most %d", ErrLimit, l.got, l.what, l.most)
		}
	}
	return of
}

// refuse fails for an instruction that refers to what guard adds.
func (g *guarded) refuse(r *reader, i instruction) {
	next := &reader{rest: i[1:]}
	switch i.op() {
	case opCall, opRefFunc:
		next.below("function", g.functions)
	case opGlobalGet, opGlobalSet:
		next.below("variable", g.stop)
	}
	if next.err != nil {
		r.fail("%w", next.err)
	}
}

// deeper reports whether an instruction calls a function that may call others.
func (g *guarded) deeper(i instruction) bool {
	return i.op() == opCallIndirect || i.op() == opCall && g.surveys[i.number()].calls
}

// descend returns code that changes how much deeper calls may go.
func (g *guarded) descend(op byte, frame int) []byte {
	depth := uint64(g.depth())
	code := appendSigned(append(binary.AppendUvarint([]byte{opGlobalGet}, depth), opI32Const), int64(frame))
	return binary.AppendUvarint(append(code, op, opGlobalSet), depth)
}

// tooDeep returns code that gives 1 if the call is too deep, and else 0.
func (g *guarded) tooDeep() []byte {
	return append(binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.depth())), opI32Const, 0, opI32LtS)
}

// A height follows the number of operands on the stack through a function.
type height struct {
	types     []functionType // of the module
	functions []functionType
	now, most int
	blocks    []opened
}

type opened struct{ base, parameters, results int }

// next goes over an instruction. Of code that is not valid, which the machines refuse, the heights mean nothing.
func (h *height) next(i instruction) {
	switch op := i.op(); op {
	case opBlock, opLoop, opIf:
		if op == opIf {
			h.now--
		}
		t := h.blockType(i)
		h.blocks = append(h.blocks, opened{h.now - len(t.parameters), len(t.parameters), len(t.results)})
	case opElse:
		h.now = h.innermost().base + h.innermost().parameters
	case opEnd:
		h.now = h.innermost().base + h.innermost().results
		h.blocks = h.blocks[:max(len(h.blocks)-1, 0)]
	case opBr, opBrTable, opReturn, opUnreachable:
		h.now = h.innermost().base // what follows is never reached
	case opCall:
		h.call(h.functions, i.number())
	case opCallIndirect:
		h.now--
		h.call(h.types, i.number())
	default:
		takes, gives := i.operands()
		h.now += gives - takes
	}
	h.now = max(h.now, h.innermost().base)
	h.most = max(h.most, h.now)
}

func (h *height) innermost() opened {
	if len(h.blocks) == 0 {
		return opened{}
	}
	return h.blocks[len(h.blocks)-1]
}

// call goes over a call of a function of a type in a list.
func (h *height) call(types []functionType, index int) {
	if index < len(types) {
		h.now += len(types[index].results) - len(types[index].parameters)
	}
}

// blockType returns the type of a block.
func (h *height) blockType(i instruction) functionType {
	switch v := i.constant(); {
	case v >= 0 && v < int64(len(h.types)):
		return h.types[v]
	case i[1] == blockWithoutResult:
		return functionType{}
	}
	return functionType{results: i[1:2]}
}

// operands returns how many values an instruction takes from the stack and gives to it, if it is no call and belongs to no block.
func (i instruction) operands() (takes, gives int) {
	switch op := i.op(); {
	case op == opNop:
		return 0, 0
	case op == opLocalGet || op == opGlobalGet || op >= opI32Const && op <= opF64Const || op == opMemorySize || op == opRefNull || op == opRefFunc:
		return 0, 1
	case op == opLocalSet || op == opGlobalSet || op == opDrop || op == opBrIf:
		return 1, 0
	case op == opSelect || op == opSelectTyped:
		return 3, 1
	case op == opTableSet || op >= opI32Store && op <= opLastStore:
		return 2, 0
	case op == opI32Eqz || op == opI64Eqz || op >= 0x67 && op <= 0x69 || op >= 0x79 && op <= 0x7b || op >= 0x8b && op <= 0x91 || op >= 0x99 && op <= 0x9f:
		return 1, 1 // comparisons with 0, and arithmetic of one operand
	case op >= 0x46 && op <= 0xa6: // other comparisons and arithmetic
		return 2, 1
	case op == opBulk:
		return i.bulkOperands()
	}
	return 1, 1 // conversions, loads, local.tee, memory.grow, table.get, ref.is_null
}

func (i instruction) bulkOperands() (takes, gives int) {
	switch i[1] {
	case 8, 10, 11, 12, 14, 17: // that copy or fill
		return 3, 0
	case 9, 13: // data.drop, elem.drop
		return 0, 0
	case 15: // table.grow
		return 2, 1
	case 16: // table.size
		return 0, 1
	}
	return 1, 1 // conversions that saturate
}
