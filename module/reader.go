package module

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A reader reads a module in the binary format of WebAssembly, or a part of it. It keeps the first error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.fail("got %d bytes, want %d", len(r.rest), n)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// number reads an unsigned number of at most 31 bits.
func (r *reader) number() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > 1<<31-1 {
		r.fail("malformed number")
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// skipNumber passes over a number of any size and sign.
func (r *reader) skipNumber() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("got a number of more than 10 bytes")
}

// signed reads a signed number of at most 64 bits.
func (r *reader) signed() (v int64) {
	for shift := 0; shift < 70; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail("got a number of more than 10 bytes")
	return 0
}

// below reads the number of something, of which there are n.
func (r *reader) below(what string, n int) int {
	i := r.number()
	if r.err == nil && i >= n {
		r.fail("got %s %d, want one below %d", what, i, n)
	}
	return i
}

// one reads a byte that has one of some values.
func (r *reader) one(what, of string) byte {
	b := r.byte()
	for i := range len(of) {
		if of[i] == b {
			return b
		}
	}
	r.fail("got %s %#x, want one of % #x", what, b, of)
	return 0
}

// pageBytes is the size of a page of memory in WebAssembly.
const pageBytes = 64 << 10

// Identifiers of sections.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
	sectionStart    = 8
	sectionElement  = 9
	sectionCode     = 10
	sectionData     = 11

	sectionDataCount = 12
)

var order = []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11}

// magic begins each module: four letters, and the version.
const magic = "\x00asm\x01\x00\x00\x00"

// sections are the sections of a module by their identifiers, and the custom one with names of functions.
type sections struct {
	bodies [13][]byte // nil if there is none
	names  []byte     // nil if there is none
	last   byte       // that was read; 0 at the beginning
}

// parseSections reads a module. Custom sections other than the names say nothing about how it runs, and are left out.
func parseSections(module []byte) (*sections, error) {
	if len(module) < len(magic) || string(module[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: missing the header of a WebAssembly module of version 1", ErrMalformed)
	}
	s := new(sections)
	r := &reader{rest: module[len(magic):]}
	for len(r.rest) > 0 {
		id := r.byte()
		s.add(r, id, r.bytes(r.number()))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, r.err)
	}
	return s, nil
}

func (s *sections) add(r *reader, id byte, body []byte) {
	switch {
	case r.err != nil:
	case id == sectionCustom:
		if name := (&reader{rest: body}); string(name.bytes(name.number())) == "name" {
			s.names = body
		}
	case int(id) >= len(s.bodies):
		r.fail("got section %d, want at most %d", id, len(s.bodies)-1)
	case s.bodies[id] != nil:
		r.fail("got section %d twice", id)
	case bytes.IndexByte(order, id) < bytes.IndexByte(order, s.last):
		r.fail("got section %d behind section %d", id, s.last)
	default:
		s.bodies[id], s.last = append([]byte{}, body...), id
	}
}

func (s *sections) append(dst []byte) []byte {
	dst = append(dst, magic...)
	for _, id := range order {
		if s.bodies[id] != nil {
			dst = appendSized(append(dst, id), s.bodies[id])
		}
	}
	if s.names != nil {
		dst = appendSized(append(dst, sectionCustom), s.names)
	}
	return dst
}

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// rewrite replaces the body of a section, if f returns no error.
func (s *sections) rewrite(id byte, f func(r *reader) []byte) error {
	r := &reader{rest: s.bodies[id]}
	body := f(r)
	if r.err != nil {
		return ofSection(id, r.err)
	}
	s.bodies[id] = body
	return nil
}

// lengthened returns the body of a section that is a list, with items before and behind it.
func lengthened(r *reader, before, behind [][]byte) []byte {
	n := 0
	if len(r.rest) > 0 {
		n = r.number()
	}
	out := binary.AppendUvarint(nil, uint64(n+len(before)+len(behind)))
	for _, b := range before {
		out = append(out, b...)
	}
	out = append(out, r.rest...)
	for _, b := range behind {
		out = append(out, b...)
	}
	return out
}

func ofSection(id byte, err error) error {
	if errors.Is(err, ErrImports) || errors.Is(err, ErrLimit) {
		return err
	}
	return fmt.Errorf("%w: section %d: %w", ErrMalformed, id, err)
}

func appendSigned(dst []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(dst, b)
		}
		dst = append(dst, b|0x80)
	}
}

func (r *reader) types() (all []functionType) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != formFunction {
			r.fail("got a type of form %#x, want a function, %#x", form, formFunction)
		}
		parameters := r.bytes(r.number())
		all = append(all, functionType{parameters, r.bytes(r.number())})
	}
	return all
}

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

func (r *reader) instructions() (all []instruction) {
	for len(r.rest) > 0 {
		at := r.rest
		r.immediates(r.byte())
		all = append(all, at[:len(at)-len(r.rest)])
	}
	return all
}

func (i instruction) opens() bool { return i.op() >= opBlock && i.op() <= opIf }

type functionType struct{ parameters, results []byte }

// A wanted is a function that a module of rules exports.
type wanted struct {
	name string
	functionType
}

// wantedFunctions are the functions that each module exports.
var wantedFunctions = []wanted{
	{"samestep_buffer", functionType{[]byte{typeI32}, []byte{typeI32}}},
	{"samestep_call", functionType{[]byte{typeI32, typeI32}, []byte{typeI64}}},
}

// Kinds of exports.
const (
	exportFunction = 0
	exportMemory   = 2
	exportVariable = 3
)

// functionTypes returns the types of all functions of a module without imports.
func (s *sections) functionTypes() (all []functionType, err error) {
	types := (&reader{rest: s.bodies[sectionType]}).types()
	r := &reader{rest: s.bodies[sectionFunction]}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if index := r.number(); index < len(types) {
			all = append(all, types[index])
		} else {
			r.fail("got type %d, want one below %d", index, len(types))
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: functions: %w", ErrMalformed, r.err)
	}
	return all, nil
}

func (t functionType) equal(o functionType) bool {
	return string(t.parameters) == string(o.parameters) && string(t.results) == string(o.results)
}
