package module

// Instructions, value types and forms of WebAssembly that this package reads or writes.
const (
	opUnreachable      = 0x00
	opBlock            = 0x02
	opLoop             = 0x03
	opIf               = 0x04
	opEnd              = 0x0b
	opBr               = 0x0c
	opBrIf             = 0x0d
	opBrTable          = 0x0e
	opReturn           = 0x0f
	opCall             = 0x10
	opCallIndirect     = 0x11
	opDrop             = 0x1a
	opSelect           = 0x1b
	opLocalGet         = 0x20
	opGlobalGet        = 0x23
	opGlobalSet        = 0x24
	opI32Store         = 0x36
	opI64Store         = 0x37
	opF32Store         = 0x38
	opF64Store         = 0x39
	opI32Const         = 0x41
	opI64Const         = 0x42
	opF32Const         = 0x43
	opF64Const         = 0x44
	opI32Eqz           = 0x45
	opF32Eq            = 0x5b
	opF64Eq            = 0x61
	opI32Sub           = 0x6b
	opF32Copysign      = 0x98
	opF64Copysign      = 0xa6
	opI32ReinterpretF  = 0xbc
	opI64ReinterpretF  = 0xbd
	opMemoryGrow       = 0x40
	opRefNull          = 0xd0
	opRefFunc          = 0xd2
	opBulk             = 0xfc
	blockWithoutResult = 0x40

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
	case op == opBr || op == opBrIf || op == opCall || op >= opLocalGet && op <= 0x26 || op == opRefFunc: // a number
		r.number()
	case op == opBrTable:
		for n := r.number(); n >= 0 && r.err == nil; n-- {
			r.number()
		}
	case op == opCallIndirect:
		r.number()
		r.number()
	case op == 0x1c: // select with a type
		r.one("a number of types", "\x01")
		r.valueType()
	case op >= 0x28 && op <= 0x3e: // load or store: alignment and offset
		r.one("an alignment", "\x00\x01\x02\x03")
		r.skipNumber()
	case op == 0x3f || op == opMemoryGrow:
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

func (r *reader) valueType() { r.one("a type of values", valueTypes) }

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
