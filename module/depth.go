package module

import "encoding/binary"

// The depth of calls. Interpreters, compilers and browsers bound it by memory that each counts in its own way, so guard counts it the
// same way for all, and its bound is below all of theirs: wazero's interpreter has 2,000 frames, and a browser a stack of about 1 MB.
// A frame counts 1, and more if it may take more than 256 bytes in a browser, or 8 KiB in wazero's machine code.
const (
	maxDepth    = 1900
	frameValues = 32   // local variables and operands of a frame that count 1
	frameCode   = 1024 // bytes of code of a function that count 1 for its frames
)

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

// checkDepth returns code that calls pause, which traps, if the call is too deep.
func (g *guarded) checkDepth() []byte {
	return append(append(append(g.tooDeep(), opIf, blockWithoutResult), g.pause()...), opEnd)
}
