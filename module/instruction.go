package module

import "encoding/binary"

// Instructions, value types and forms of WebAssembly that this package reads or writes.
const (
	opUnreachable      = 0x00
	opNop              = 0x01
	opBlock            = 0x02
	opLoop             = 0x03
	opIf               = 0x04
	opElse             = 0x05
	opEnd              = 0x0b
	opBr               = 0x0c
	opBrIf             = 0x0d
	opBrTable          = 0x0e
	opReturn           = 0x0f
	opCall             = 0x10
	opCallIndirect     = 0x11
	opDrop             = 0x1a
	opSelect           = 0x1b
	opSelectTyped      = 0x1c
	opLocalGet         = 0x20
	opLocalSet         = 0x21
	opLocalTee         = 0x22
	opGlobalGet        = 0x23
	opGlobalSet        = 0x24
	opTableSet         = 0x26
	opI32Load          = 0x28
	opI64Load          = 0x29
	opI32Load8U        = 0x2d
	opLastLoad         = 0x35
	opI32Store         = 0x36
	opI64Store         = 0x37
	opF32Store         = 0x38
	opF64Store         = 0x39
	opLastStore        = 0x3e
	opI32Const         = 0x41
	opI64Const         = 0x42
	opF32Const         = 0x43
	opF64Const         = 0x44
	opI32Eqz           = 0x45
	opI32LtS           = 0x48
	opI32LeS           = 0x4c
	opI64Eqz           = 0x50
	opI64LeS           = 0x57
	opF32Eq            = 0x5b
	opF64Eq            = 0x61
	opI32Add           = 0x6a
	opI32Sub           = 0x6b
	opI32Or            = 0x72
	opI32ShrU          = 0x76
	opI64Add           = 0x7c
	opI64Sub           = 0x7d
	opF32Copysign      = 0x98
	opI32WrapI64       = 0xa7
	opI64ExtendU       = 0xad
	opF64Copysign      = 0xa6
	opI32ReinterpretF  = 0xbc
	opI64ReinterpretF  = 0xbd
	opMemorySize       = 0x3f
	opMemoryGrow       = 0x40
	opRefNull          = 0xd0
	opRefFunc          = 0xd2
	opBulk             = 0xfc
	blockWithoutResult = 0x40
	bulkCopy           = 10 // behind opBulk

	typeI32      = 0x7f
	typeI64      = 0x7e
	typeF32      = 0x7d
	typeF64      = 0x7c
	formFunction = 0x60
)

// immediates passes over what follows the first byte of an instruction. It knows WebAssembly 2.0 without vectors.
func (r *reader) immediates(op byte) {
	switch {
	case op == opBlock || op == opLoop || op == opIf: // the type of a block
		r.blockType()
	case op == opBr || op == opBrIf || op == opCall || op >= opLocalGet && op <= opTableSet || op == opRefFunc: // a number
		r.number()
	case op == opBrTable:
		for n := r.number(); n >= 0 && r.err == nil; n-- {
			r.number()
		}
	case op == opCallIndirect:
		r.number()
		r.number()
	case op == opSelectTyped:
		r.one("a number of types", "\x01")
		r.valueType()
	case op >= 0x28 && op <= 0x3e: // load or store: alignment and offset
		r.one("an alignment", "\x00\x01\x02\x03")
		r.skipNumber()
	case op == opMemorySize || op == opMemoryGrow:
		r.memory()
	case op == opRefNull:
		r.one("a type of references", referenceTypes)
	case op == opI32Const || op == opI64Const:
		r.skipNumber()
	case op == opF32Const:
		r.bytes(4)
	case op == opF64Const:
		r.bytes(8)
	case op == opBulk:
		r.bulk()
	case op <= 0x01 || op == 0x05 || op == opEnd || op == opReturn || op == opDrop || op == opSelect || op >= 0x45 && op <= 0xc4 || op == 0xd1:
	case op == 0xfd:
		r.fail("got an instruction for vectors, want none: build it without SIMD")
	case op == 0xfe:
		r.fail("got an instruction for threads, want none")
	default:
		r.fail("got instruction %#x, want one of WebAssembly 2.0", op)
	}
}

// memory passes over the number of the only memory.
func (r *reader) memory() { r.one("memory", "\x00") }

// bulk passes over an instruction with the prefix opBulk. Its number is one byte, which all compilers write.
func (r *reader) bulk() {
	switch sub := r.byte(); {
	case sub <= 7: // conversions that saturate
	case sub == 8: // memory.init
		r.number()
		r.memory()
	case sub == 10: // memory.copy
		r.memory()
		r.memory()
	case sub == 11: // memory.fill
		r.memory()
	case sub == 12 || sub == 14: // table.init, table.copy
		r.number()
		r.number()
	case sub == 9 || sub >= 13 && sub <= 17: // data.drop, elem.drop, table.grow, table.size, table.fill
		r.number()
	default:
		r.fail("got instruction %#x %d, want one of WebAssembly 2.0", opBulk, sub)
	}
}

// The types of values and references in WebAssembly 2.0 without vectors. Each is one byte; later versions have longer ones, which
// the machines read although they do not offer them.
const (
	referenceTypes = "\x70\x6f"
	valueTypes     = "\x7f\x7e\x7d\x7c" + referenceTypes
)

func (r *reader) valueType() byte { return r.one("a type of values", valueTypes) }

// blockType reads the type of a block: none, one of values, or the number of one with parameters.
func (r *reader) blockType() {
	if len(r.rest) > 0 && r.rest[0] >= blockWithoutResult && r.rest[0] < 0x80 {
		r.one("a type of a block", string(rune(blockWithoutResult))+valueTypes)
		return
	}
	if v := r.signed(); v < 0 {
		r.fail("got the type %d of a block in a long form, want one byte", v)
	}
}

// An instruction is one with what follows its first byte.
type instruction []byte

func (i instruction) op() byte { return i[0] }

// number returns the first number that follows the first byte.
func (i instruction) number() int { return (&reader{rest: i[1:]}).number() }

// constant returns the number that follows the first byte, with its sign.
func (i instruction) constant() int64 { return (&reader{rest: i[1:]}).signed() }

func instructionOf(op byte, number int) instruction {
	return binary.AppendUvarint([]byte{op}, uint64(number))
}

func constantOf(op byte, number int64) instruction { return appendSigned([]byte{op}, number) }

// instructions reads all instructions.
func (r *reader) instructions() (all []instruction) {
	for len(r.rest) > 0 {
		at := r.rest
		r.immediates(r.byte())
		all = append(all, at[:len(at)-len(r.rest)])
	}
	return all
}

// at returns an instruction, or an end behind the code.
func at(code []instruction, i int) instruction {
	if i >= 0 && i < len(code) {
		return code[i]
	}
	return instruction{opEnd}
}

// opens reports whether an instruction begins a block.
func (i instruction) opens() bool { return i.op() >= opBlock && i.op() <= opIf }

// match reports whether code begins with some instructions. nil stands for any.
func match(code, want []instruction) bool {
	if len(code) < len(want) {
		return false
	}
	for i, w := range want {
		if w != nil && string(code[i]) != string(w) {
			return false
		}
	}
	return true
}

// effect returns how many values an instruction takes from the stack and gives to it. ok is false if that depends on more.
func (i instruction) effect() (takes, gives int, ok bool) {
	switch op := i.op(); {
	case op == opNop:
		return 0, 0, true
	case op == opLocalGet || op == opGlobalGet || op >= opI32Const && op <= opF64Const:
		return 0, 1, true
	case op == opLocalSet || op == opGlobalSet || op == opDrop:
		return 1, 0, true
	case op == opSelect:
		return 3, 1, true
	case op == opLocalTee || op == opI32Eqz || op == opI64Eqz || op >= 0x67 && op <= 0x69 || op >= 0x79 && op <= 0x7b ||
		op >= 0x8b && op <= 0x91 || op >= 0x99 && op <= 0x9f || op >= opI32WrapI64 && op <= 0xc4: // of one operand
		return 1, 1, true
	case op >= 0x46 && op <= 0xa6: // comparisons and arithmetic
		return 2, 1, true
	}
	return 0, 0, false
}

// opposites are the comparisons of integers that are true where others are not.
var opposites = func() (all [256]byte) {
	for _, pair := range [][2]byte{
		{0x46, 0x47}, {0x48, 0x4e}, {0x49, 0x4f}, {0x4a, 0x4c}, {0x4b, 0x4d}, // 32 bits: eq ne, lt ge with and without signs, gt le
		{0x51, 0x52}, {0x53, 0x59}, {0x54, 0x5a}, {0x55, 0x57}, {0x56, 0x58}, // 64 bits
	} {
		all[pair[0]], all[pair[1]] = pair[1], pair[0]
	}
	return all
}()

// A functionType has the value types of parameters and results.
type functionType struct{ parameters, results []byte }
