package module

// Instructions, value types and forms of WebAssembly that this package reads or writes.
const (
	opUnreachable      = 0x00
	opLoop             = 0x03
	opIf               = 0x04
	opEnd              = 0x0b
	opBr               = 0x0c
	opBrTable          = 0x0e
	opReturn           = 0x0f
	opCall             = 0x10
	opCallIndirect     = 0x11
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
	opF32Eq            = 0x5b
	opF64Eq            = 0x61
	opF32Copysign      = 0x98
	opF64Copysign      = 0xa6
	opI32ReinterpretF  = 0xbc
	opI64ReinterpretF  = 0xbd
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
	case op == 0x02 || op == opLoop || op == opIf: // the type of a block
		r.skipNumber()
	case op == 0x0c || op == 0x0d || op == opCall || op >= opLocalGet && op <= 0x26 || op == 0xd2: // a number
		r.number()
	case op == opBrTable:
		for n := r.number(); n >= 0 && r.err == nil; n-- {
			r.number()
		}
	case op == opCallIndirect:
		r.number()
		r.number()
	case op == 0x1c: // select with a type
		r.bytes(r.number())
	case op >= 0x28 && op <= 0x3e: // load or store: alignment and offset
		r.skipNumber()
		r.skipNumber()
	case op == 0x3f || op == 0x40 || op == 0xd0: // memory.size, memory.grow, ref.null
		r.byte()
	case op == opI32Const || op == opI64Const:
		r.skipNumber()
	case op == opF32Const:
		r.bytes(4)
	case op == opF64Const:
		r.bytes(8)
	case op == opBulk:
		r.bulk()
	case op <= 0x01 || op == 0x05 || op == opEnd || op == 0x0f || op == 0x1a || op == opSelect || op >= 0x45 && op <= 0xc4 || op == 0xd1:
	case op == 0xfd:
		r.fail("got an instruction for vectors, want none: build it without SIMD")
	case op == 0xfe:
		r.fail("got an instruction for threads, want none")
	default:
		r.fail("got instruction %#x, want one of WebAssembly 2.0", op)
	}
}

// branchesOf returns how many blocks and branches an instruction adds to its function. code begins with it.
func branchesOf(op byte, code []byte) int64 {
	switch op {
	case opBrTable:
		return int64((&reader{rest: code[1:]}).number())
	case 0x02, opLoop, opIf, 0x05, opBr, 0x0d:
		return 1
	}
	return 0
}

// bulk passes over an instruction with the prefix opBulk.
func (r *reader) bulk() {
	switch sub := r.number(); {
	case sub <= 7: // conversions that saturate
	case sub == 8: // memory.init
		r.number()
		r.byte()
	case sub == 10: // memory.copy
		r.bytes(2)
	case sub == 11: // memory.fill
		r.byte()
	case sub == 12 || sub == 14: // table.init, table.copy
		r.number()
		r.number()
	case sub == 9 || sub >= 13 && sub <= 17: // data.drop, elem.drop, table.grow, table.size, table.fill
		r.number()
	default:
		r.fail("got instruction %#x %d, want one of WebAssembly 2.0", opBulk, sub)
	}
}
