package module

import (
	"encoding/binary"
	"strconv"
)

// Limits of the code. A compiler takes memory for each local variable, and time with the square of the places in a function where
// branches begin or end. The largest function of a game in Go has 30 KB and 1,400 branches, and the squares of all are 26 million.
const (
	maxBody      = 1 << 20     // bytes of a function
	maxLocals    = 50_000      // of a function
	maxAllLocals = 4_000_000   // of all functions
	maxBranches  = 10_000      // of a function
	maxWork      = 400_000_000 // the squares of the branches of all functions together
)

// hostName begins the names of exports that guard adds.
const hostName = "samestep_host_"

// The names of the global variables that guard adds.
const (
	stopName   = hostName + "stop"   // the module traps soon after it is not 0
	leftName   = hostName + "left"   // passes until the next pause
	budgetName = hostName + "budget" // passes that the call may still do, at the last pause; the module traps if there are none
)

// variableName returns the name under which guard exports a variable of the module.
func variableName(variable int) string { return hostName + strconv.Itoa(variable) }

// guarded is a module that guard rewrites.
type guarded struct {
	types, functions, tables int // of the module
	stop                     int // the number of the variable
	locals, work             int // of all functions so far

	variables int   // of the module that were read
	mutable   []int // the numbers of those that the module can change
	hidden    bool  // the module may change more than these and its memory
}

// code rewrites the section with the bodies of all functions.
func (g *guarded) code(r *reader) []byte {
	n := r.number()
	if n != g.functions {
		r.fail("got %d bodies of functions, want %d", n, g.functions)
		return nil
	}
	out := binary.AppendUvarint(make([]byte, 0, len(r.rest)+len(r.rest)/4), uint64(n+4))
	var body []byte
	for i := 0; i < n && r.err == nil; i++ {
		f := &reader{rest: r.bytes(r.number())}
		body = g.function(f, body[:0])
		if f.err != nil && r.err == nil {
			r.fail("function %d: %w", i, f.err)
		}
		out = appendSized(out, body)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.fail("got %d bytes behind the functions, want none", len(r.rest))
	}
	out = appendSized(out, canonical(opF32Const, []byte{0, 0, 0xc0, 0x7f}, opF32Eq))
	out = appendSized(out, canonical(opF64Const, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, opF64Eq))
	out = appendSized(out, g.pausing())
	return appendSized(out, g.counting())
}

// canonical returns the body of a function that returns its parameter, or one NaN for all.
func canonical(constant byte, nan []byte, equal byte) []byte {
	body := append([]byte{0, opLocalGet, 0, constant}, nan...)
	return append(body, opLocalGet, 0, opLocalGet, 0, equal, opSelect, opEnd)
}

// readLocals reads the local variables of a function.
func (g *guarded) readLocals(r *reader) {
	locals := 0
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if locals += r.number(); locals > maxLocals {
			r.fail("%w: got %d local variables, want at most %d", ErrLimit, locals, maxLocals)
		}
		r.valueType()
	}
	if g.locals += locals; g.locals > maxAllLocals {
		r.fail("%w: got %d local variables of all functions, want at most %d", ErrLimit, g.locals, maxAllLocals)
	}
}

// function appends the body of a function.
func (g *guarded) function(r *reader, dst []byte) []byte {
	whole := r.rest
	if len(whole) > maxBody {
		r.fail("%w: got %d bytes of code, want at most %d", ErrLimit, len(whole), maxBody)
	}
	g.readLocals(r)
	dst = append(dst, whole[:len(whole)-len(r.rest)]...)
	start := len(dst)
	branches := 0
	calls, branched, looped := false, false, false // looped: a loop begins before all calls and branches
	short := false                                 // the instruction before is a small number
	for len(r.rest) > 0 {
		at := r.rest
		op := r.byte()
		r.immediates(op)
		if r.err != nil {
			break
		}
		dst = append(g.before(r, at, dst, short), at[:len(at)-len(r.rest)]...)
		short = op == opI32Const && instruction(at).constant() >= 0 && instruction(at).constant() <= shortBytes
		calls = calls || op == opCall || op == opCallIndirect
		branched = branched || calls || op >= opBr && op <= opReturn || op == opIf
		if op == opLoop {
			dst = append(dst, g.check()...)
			looped = looped || !branched
		}
		branches += branchesOf(at)
		g.hidden = g.hidden || changesTables(at)
	}
	if calls && !looped {
		dst = append(dst[:start], append(g.check(), dst[start:]...)...)
	}
	if branches > maxBranches {
		r.fail("%w: got %d branches, want at most %d", ErrLimit, branches, maxBranches)
	}
	if g.work += branches * branches; g.work > maxWork {
		r.fail("%w: got %d squares of branches, want at most %d", ErrLimit, g.work, maxWork)
	}
	return dst
}

// shortBytes is the size of the largest copy that is not counted, in bytes. It takes no longer than a few instructions.
const shortBytes = 4096

// before appends the code that goes before an instruction. It refuses those that refer to what guard adds. short says that the last
// operand is a number up to shortBytes.
func (g *guarded) before(r *reader, instruction, dst []byte, short bool) []byte {
	next := &reader{rest: instruction[1:]}
	switch instruction[0] {
	case opCall, opRefFunc:
		next.below("function", g.functions)
	case opGlobalGet, opGlobalSet:
		next.below("variable", g.stop)
	case opF32Store, opF32Copysign, opI32ReinterpretF:
		dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions))
	case opF64Store, opF64Copysign, opI64ReinterpretF:
		dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions+1))
	case opBulk:
		if takesLong(next.byte()) && !short {
			dst = binary.AppendUvarint(append(dst, opCall), uint64(g.functions+3))
		}
	}
	if next.err != nil {
		r.fail("%w", next.err)
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

// check returns code that calls pause after some passes.
func (g *guarded) check() []byte {
	left := binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.left()))
	code := append(append([]byte(nil), left...), opI32Const, 1, opI32Sub, opGlobalSet)
	code = append(append(binary.AppendUvarint(code, uint64(g.left())), left...), opI32Const, 0, opI32LeS, opIf, blockWithoutResult)
	return append(append(code, g.pause()...), opEnd)
}

// pause returns a call of the function that pauses.
func (g *guarded) pause() []byte { return binary.AppendUvarint([]byte{opCall}, uint64(g.functions+2)) }

// counting returns the body of a function that returns its parameter, the size of a copy of memory or a table, and counts a pass for
// each KiB of it.
func (g *guarded) counting() []byte {
	left := binary.AppendUvarint([]byte{opGlobalGet}, uint64(g.left()))
	body := append(append([]byte{0}, left...), opLocalGet, 0, opI32Const, 10, opI32ShrU, opI32Sub, opGlobalSet)
	body = append(binary.AppendUvarint(body, uint64(g.left())), g.check()...)
	return append(body, opLocalGet, 0, opEnd)
}

// left and budget return the numbers of the variables leftName and budgetName.
func (g *guarded) left() int   { return g.stop + 1 }
func (g *guarded) budget() int { return g.stop + 2 }

// pausing returns the body of the function that pauses. It traps if the variable stop is not 0, or if the passes since the last pause
// are all that the call may still do. Before that it leaves the compiled code for Go's, with a memory.grow by nothing: Go cannot
// interrupt compiled code, and to collect garbage it stops everything until that code comes back, also the timer that sets the variable.
func (g *guarded) pausing() []byte {
	body := []byte{0}
	if leavesCode {
		body = append(body, opI32Const, 0, opMemoryGrow, 0, opDrop)
	}
	body = append(binary.AppendUvarint(append(body, opGlobalGet), uint64(g.stop)), opIf, blockWithoutResult, opUnreachable, opEnd)
	budget, left := uint64(g.budget()), uint64(g.left())
	body = appendSigned(append(binary.AppendUvarint(append(body, opGlobalGet), budget), opI32Const), pauseAfter)
	body = append(binary.AppendUvarint(append(body, opGlobalGet), left), opI32Sub, opI64ExtendU, opI64Sub, opGlobalSet)
	body = append(binary.AppendUvarint(append(binary.AppendUvarint(body, budget), opGlobalGet), budget), opI64Const, 0, opI64LeS)
	body = append(body, opIf, blockWithoutResult, opUnreachable, opEnd)
	body = append(appendSigned(append(body, opI32Const), pauseAfter), opGlobalSet)
	return append(binary.AppendUvarint(body, left), opEnd)
}
