package module

import (
	"encoding/binary"
	"slices"
)

// Local variables in the code of Go's compiler. It keeps all other integers in ones of 64 bits.
const (
	counter = 0 // the parameter: 0, or the number of the part at which it goes on
	frame   = 1
)

// The local variables that shorten adds.
const (
	newStack   = iota // the address of the frame during a call
	newFrom           // of a copy
	newTo             // of a copy
	newFrame          // the address of the frame, the same everywhere in the function
	newPointer        // the addresses in the first local variables
	newLast    = newPointer + pointers
	pointers   = 20
	newLocals  = "\x18\x7f\x01\x7e" // their declaration; newLast has 64 bits
)

// shorten returns code of Go's compiler that does the same with fewer checks of addresses. A compiler of WebAssembly knows that an address
// is inside of the memory if a larger one from the same variable was. It does not know, but Go promises, that the frame is at
// the same place behind a call, and that no sum of an address and an offset has more than 32 bits.
func shorten(code []instruction, local int) []instruction {
	s := &shortener{code: keepFrame(code, local), local: local}
	for s.at < len(s.code) {
		s.next()
	}
	return s.finish()
}

// callBegin is the beginning of a call: it stores where the function goes on.
var callBegin = []instruction{
	instructionOf(opLocalGet, frame), constantOf(opI32Const, 8), {opI32Sub}, instructionOf(opLocalTee, frame),
	instructionOf(opGlobalSet, 0), instructionOf(opLocalGet, frame), nil, {opI64Store, 3, 0},
}

// callEnd is what follows a call: the frame may have moved, but then the function ends here, and begins again behind the call.
var callEnd = []instruction{instructionOf(opGlobalGet, 0), instructionOf(opLocalSet, frame)}

func beginsCall(code []instruction) bool {
	return match(code, callBegin) && code[len(callBegin)-2].op() == opI64Const
}

// keepFrame changes calls so that they leave the variable with the frame as it is.
func keepFrame(code []instruction, local int) []instruction {
	out := slices.Clone(code)
	for i := range code {
		if !beginsCall(code[i:]) {
			continue
		}
		call := i + len(callBegin)
		for call < len(code) && code[call].moves() {
			call++
		}
		if op := at(code, call).op(); (op == opCall || op == opCallIndirect) && match(code[call+1:], callEnd) {
			out[i+3], out[i+5] = instructionOf(opLocalTee, local+newStack), instructionOf(opLocalGet, local+newStack)
			out[call+1], out[call+2] = nil, nil
		}
	}
	return slices.DeleteFunc(out, func(i instruction) bool { return i == nil })
}

// moves reports whether an instruction computes with values and variables, without the frame.
func (i instruction) moves() bool {
	op := i.op()
	return op == opI32Const || op == opI64Const || op >= opI32Eqz && op <= 0xc4 || (op == opLocalGet || op == opLocalSet) && i.number() != frame
}

// A shortener writes shorter code.
type shortener struct {
	code  []instruction
	at    int
	local int // the first new local variable
	out   []instruction
	most  int // the end of the farthest access to the frame

	stack []value              // what is known of the last values
	known [pointers]*address   // of local variables, if new ones have their addresses
	outer [][pointers]*address // the same at the beginning of each open block
	open  []*address           // since which every instruction follows the one before it

	addresses []*address
}

// A value is on the stack.
type value struct {
	frame   bool // it is a place in the frame
	first   int  // the instruction that begins it
	offset  int  // of a sum
	sum     bool
	address *address // it is one
}

// An address is in a new variable.
type address struct {
	at          int // the instruction that sets the variable
	first, most int // the ends of the first access, and of the last
}

func (s *shortener) push(v value) { s.stack = append(s.stack, v) }

func (s *shortener) pop() (v value) {
	if n := len(s.stack) - 1; n >= 0 {
		v, s.stack = s.stack[n], s.stack[:n]
	}
	return v
}

func (s *shortener) add(i ...instruction) { s.out = append(s.out, i...) }

// frameSum is the address of a place in the frame, which has five instructions.
var frameSum = []instruction{instructionOf(opLocalGet, frame), {opI64ExtendU}, nil, {opI64Add}, {opI32WrapI64}}

// next writes what takes the place of the next instructions.
func (s *shortener) next() {
	rest := s.code[s.at:]
	i := rest[0]
	next := at(rest, 1)
	switch {
	case match(rest, frameSum) && rest[2].op() == opI64Const && fits(rest[2].constant()):
		s.push(value{frame: true, sum: true, first: len(s.out), offset: int(rest[2].constant())})
		s.add(i, constantOf(opI32Const, rest[2].constant()), instruction{opI32Add})
		s.at += len(frameSum)
	case i.op() == opLocalGet && i.number() == frame:
		s.push(value{frame: true, first: len(s.out)})
		s.add(i)
		s.at++
	case i.op() == opLocalGet && next.op() == opI32WrapI64 && i.number() < pointers:
		s.pointer(i)
		s.at += 2
	case next.op() == opI32Eqz && opposites[i.op()] != 0:
		s.pop()
		s.pop()
		s.push(value{})
		s.add(instruction{opposites[i.op()]})
		s.at += 2
	case i.op() == opI32Const && next.op() == opBulk && next[1] == bulkCopy && i.constant() >= 8 && i.constant() <= maxShortCopy:
		s.copy(int(i.constant()))
		s.at += 2
	default:
		s.one(i)
		s.at++
	}
}

// fits reports whether a number is the offset of a place in a frame.
func fits(offset int64) bool { return offset >= 0 && offset < 1<<20 }

// pointer writes the address in a local variable.
func (s *shortener) pointer(get instruction) {
	l := get.number()
	variable := s.local + newPointer + l
	if s.known[l] != nil {
		s.push(value{address: s.known[l]})
		s.add(instructionOf(opLocalGet, variable))
		return
	}
	s.add(get, instruction{opI32WrapI64}, instructionOf(opLocalTee, variable))
	a := &address{at: len(s.out) - 1}
	s.known[l] = a
	s.open, s.addresses = append(s.open, a), append(s.addresses, a)
	s.push(value{address: a})
}

// one writes an instruction as it is, but for the offset of an access to the memory.
func (s *shortener) one(i instruction) {
	op := i.op()
	switch {
	case op >= opI32Load && op <= opLastLoad:
		i = s.access(s.pop(), i)
		s.push(value{})
	case op >= opI32Store && op <= opLastStore:
		s.pop()
		i = s.access(s.pop(), i)
	case i.opens():
		s.branch()
		s.outer = append(s.outer, s.known)
		if op == opLoop {
			s.known = [pointers]*address{}
		}
	case op == opElse:
		s.branch()
		if n := len(s.outer) - 1; n >= 0 {
			s.known = s.outer[n]
		}
	case op == opEnd:
		s.branch()
		if n := len(s.outer) - 1; n >= 0 {
			for l, before := range s.outer[n] {
				if s.known[l] != before {
					s.known[l] = nil
				}
			}
			s.outer = s.outer[:n]
		}
	default:
		takes, gives, ok := i.effect()
		if !ok {
			s.branch()
			break
		}
		for range takes {
			s.pop()
		}
		for range gives {
			s.push(value{})
		}
		if op == opLocalSet || op == opLocalTee {
			s.forget(i.number())
		}
	}
	s.add(i)
}

// branch is called where control may go elsewhere, or come from elsewhere.
func (s *shortener) branch() {
	s.stack, s.open = nil, nil
}

// forget is called where a local variable changes.
func (s *shortener) forget(l int) {
	if l == frame {
		s.stack = nil // values in the frame are of the old one
	}
	if l >= pointers {
		return
	}
	s.known[l] = nil
	for o := range s.outer {
		s.outer[o][l] = nil
	}
}

// access returns an access to the memory.
func (s *shortener) access(v value, i instruction) instruction {
	r := &reader{rest: i[1:]}
	align, offset := r.byte(), r.number()
	size := int(accessSizes[i.op()-opI32Load])
	if v.frame {
		if v.sum {
			offset += v.offset
			s.out[v.first+1], s.out[v.first+2] = nil, nil
			i = accessOf(i.op(), align, offset)
		}
		s.most = max(s.most, offset+size)
	}
	if a := v.address; a != nil && slices.Contains(s.open, a) {
		if a.first == 0 {
			a.first = offset + size
		}
		a.most = max(a.most, offset+size)
	}
	return i
}

// accessSizes are the sizes of the accesses to the memory, from opI32Load on, in bytes.
const accessSizes = "\x04\x08\x04\x08\x01\x01\x02\x02\x01\x01\x02\x02\x04\x04\x04\x08\x04\x08\x01\x02\x01\x02\x04"

func accessOf(op, align byte, offset int) instruction {
	return binary.AppendUvarint([]byte{op, align}, uint64(offset))
}

// probe returns code that traps unless some bytes behind an address are in the memory. It reads the last of them, which nobody uses, so a
// compiler keeps only the check.
func probe(variable, size int) []byte {
	return append(append(instructionOf(opLocalGet, variable), accessOf(opI32Load8U, 0, size-1)...), opDrop)
}

// maxShortCopy is the size of the largest copy that is written as loads and stores, in bytes. For a copy, a compiler calls a function.
const maxShortCopy = 64

// copy writes a copy of memory. It reads everything before it writes, because the two places may overlap, and the end first, so that
// one check is enough.
func (s *shortener) copy(size int) {
	from, fromOffset := s.base(newFrom, size)
	to, toOffset := s.base(newTo, size)
	last := s.local + newLast
	s.add(from, accessOf(opI64Load, 0, fromOffset+size-8), instructionOf(opLocalSet, last))
	var stores []instruction
	for offset := 0; offset < size-8; offset += 8 {
		s.add(to, from, accessOf(opI64Load, 0, fromOffset+offset))
		stores = append(stores, accessOf(opI64Store, 0, toOffset+offset))
	}
	s.add(to, instructionOf(opLocalGet, last), accessOf(opI64Store, 0, toOffset+size-8))
	slices.Reverse(stores)
	s.add(stores...)
}

// base takes an address from the stack and returns the variable with it, which is a new one if it is no place in the frame.
func (s *shortener) base(variable, size int) (get instruction, offset int) {
	v := s.pop()
	if !v.frame {
		s.add(instructionOf(opLocalSet, s.local+variable))
		return instructionOf(opLocalGet, s.local+variable), 0
	}
	s.out[v.first] = nil
	if v.sum {
		s.out[v.first+1], s.out[v.first+2] = nil, nil
	}
	s.most = max(s.most, v.offset+size)
	return instructionOf(opLocalGet, frame), v.offset
}

// enterFrame begins the frame of a function; nil is its size.
var enterFrame = []instruction{
	instructionOf(opLocalGet, frame), nil, {opI32Sub}, instructionOf(opLocalTee, frame), instructionOf(opGlobalSet, 0),
}

// finish returns the code with probes, and with one variable for the frame that never changes.
func (s *shortener) finish() []instruction {
	for _, a := range s.addresses {
		if a.most > a.first {
			s.out[a.at] = append(slices.Clone(s.out[a.at]), probe(s.out[a.at].number(), a.most)...)
		}
	}
	code := slices.DeleteFunc(s.out, func(i instruction) bool { return i == nil })
	if !match(code, callEnd) {
		return code
	}
	first, variable := len(callEnd), frame
	for i := first; i < len(code); i++ {
		if !match(code[i:], enterFrame) || code[i+1].op() != opI32Const || beginsCall(code[i:]) {
			continue
		}
		variable = s.local + newFrame
		// The counter is 0 where the function begins, before its frame, and not 0 where it goes on.
		begin := append(slices.Clone(callEnd), instructionOf(opLocalGet, frame), constantOf(opI32Const, 0), code[i+1],
			instructionOf(opLocalGet, counter), instruction{opSelect}, instruction{opI32Sub}, instructionOf(opLocalSet, variable))
		for n, in := range code[i:] {
			if op := in.op(); (op == opLocalGet || op == opLocalSet || op == opLocalTee) && in.number() == frame {
				code[i+n] = instructionOf(op, variable)
			}
		}
		first, code = len(begin), slices.Concat(begin, code[len(callEnd):i+1], code[i+4:])
		break
	}
	if s.most > 0 {
		code = slices.Insert(code, first, probe(variable, s.most))
	}
	return code
}
