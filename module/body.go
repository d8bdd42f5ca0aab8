package module

import "encoding/binary"

// function appends the body of a function.
func (g *guarded) function(r *reader, of survey, dst []byte) []byte {
	whole := r.rest
	r.locals()
	dst = append(dst, whole[:len(whole)-len(r.rest)]...)
	switch {
	case of.calls && of.looped:
		dst = append(dst, g.checkDepth()...)
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
