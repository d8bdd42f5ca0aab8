// Package hostile makes WebAssembly modules of rules that harm a host which does not bound them: in what it takes to compile them, or to
// run them.
package hostile

import "encoding/binary"

// Game and Build are those of all modules. Their state is a number that stays 0, and they accept no command.
const (
	Game  = "hostile"
	Build = "1"
)

const description = `{"abi":1,"game":"` + Game + `","build":"` + Build + `","state":"struct { A uint64 }","config":"struct { A uint8 }","commands":[]}`

// Instructions and types of WebAssembly.
const (
	unreachable = 0x00
	block       = 0x02
	loop        = 0x03
	ifOp        = 0x04
	end         = 0x0b
	br          = 0x0c
	brIf        = 0x0d
	brTable     = 0x0e
	ret         = 0x0f
	call        = 0x10
	indirect    = 0x11
	drop        = 0x1a
	localGet    = 0x20
	localSet    = 0x21
	localTee    = 0x22
	i64Load     = 0x29
	i64Store    = 0x37
	memoryGrow  = 0x40
	i32Const    = 0x41
	i64Const    = 0x42
	i32Eqz      = 0x45
	i32Eq       = 0x46
	i32GeU      = 0x4f
	i32Add      = 0x6a
	i32Sub      = 0x6b
	i64Add      = 0x7c
	divide      = 0x7f // of numbers of 64 bits with signs
	wrap        = 0xa7
	bulk        = 0xfc
	none        = 0x40 // the type of a block without results

	i32 = 0x7f
	i64 = 0x7e
)

// A module is one to be written. Its functions are 0 samestep_buffer, 1 samestep_call, 2 _initialize, 3 the harm, and more.
type module struct {
	memory     []byte // limits; nil: 2 pages
	types      [][]byte
	describe   []byte // runs before the description is answered
	described  int64  // the packed answer of Describe; 0: the description
	text       string // the description; "": that of all
	initialize []byte
	locals     []byte // of the harm
	harm       []byte // runs in each step
	more       []function
	imports    []byte
	start      bool
	tables     [][]byte
	elements   [][]byte
	data       [][]byte
	saved      int64 // the packed answer of Save; 0: eight zeros
}

type function struct {
	kind         int // of its type
	locals, code []byte
}

// unsigned and signed are numbers in the binary format.
func unsigned(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func signed(v int64) (b []byte) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func number(v int64) []byte { return append([]byte{i32Const}, signed(v)...) }

func long(v int64) []byte { return append([]byte{i64Const}, signed(v)...) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func repeat(n int, b ...byte) (all []byte) {
	for range n {
		all = append(all, b...)
	}
	return all
}

func repeatAll(n int, b []byte) (all []byte) {
	for range n {
		all = append(all, b...)
	}
	return all
}

func sized(b []byte) []byte { return append(unsigned(len(b)), b...) }

func list(items ...[]byte) []byte { return append(unsigned(len(items)), join(items...)...) }

func section(id byte, body []byte) []byte { return append([]byte{id}, sized(body)...) }

// signature returns a type of functions.
func signature(parameters, results []byte) []byte {
	return join([]byte{0x60}, sized(parameters), sized(results))
}

// variables declares n local variables of a type.
func variables(n int, kind byte) []byte { return join([]byte{1}, unsigned(n), []byte{kind}) }

func packed(at, size int64) int64 { return at<<32 | size }

// Where the module keeps its texts and takes its input.
const (
	zeros  = 0
	words  = 1024
	buffer = 1 << 16
)

// bytes returns the module.
func (m module) bytes() []byte {
	if m.text == "" {
		m.text = description
	}
	if m.described == 0 {
		m.described = packed(words, int64(len(m.text)))
	}
	if m.memory == nil {
		m.memory = []byte{0, 2}
	}
	if m.saved == 0 {
		m.saved = packed(zeros, 8)
	}
	when := func(function int64, do []byte, answer int64) []byte {
		return join([]byte{localGet, 0}, number(function), []byte{i32Eq, ifOp, none}, do, long(answer), []byte{ret, end})
	}
	answer := join(
		when(0, m.describe, m.described),
		when(6, nil, m.saved),
		[]byte{localGet, 0}, number(8), []byte{i32GeU, ifOp, none}, long(1<<62), []byte{ret, end},
		when(7, []byte{call, 3}, packed(zeros, 13)),
		long(packed(zeros, 0)),
	)
	functions := append([]function{{0, nil, number(buffer)}, {1, nil, answer}, {2, nil, m.initialize}, {2, m.locals, m.harm}}, m.more...)
	types := append([][]byte{signature([]byte{i32}, []byte{i32}), signature([]byte{i32, i32}, []byte{i64}), signature(nil, nil)}, m.types...)
	var kinds, bodies [][]byte
	for _, f := range functions {
		if f.locals == nil {
			f.locals = []byte{0}
		}
		kinds = append(kinds, unsigned(f.kind))
		bodies = append(bodies, sized(join(f.locals, f.code, []byte{end})))
	}
	export := func(name string, kind byte, index int) []byte {
		return join(sized([]byte(name)), []byte{kind}, unsigned(index))
	}
	out := join([]byte("\x00asm\x01\x00\x00\x00"), section(1, list(types...)))
	if m.imports != nil {
		out = append(out, section(2, list(m.imports))...)
	}
	out = append(out, section(3, list(kinds...))...)
	if m.tables != nil {
		out = append(out, section(4, list(m.tables...))...)
	}
	out = append(out, section(5, list(m.memory))...)
	out = append(out, section(7, list(export("memory", 2, 0), export("samestep_buffer", 0, 0), export("samestep_call", 0, 1), export("_initialize", 0, 2)))...)
	if m.start {
		out = append(out, section(8, unsigned(2))...)
	}
	if m.elements != nil {
		out = append(out, section(9, list(m.elements...))...)
	}
	out = append(out, section(10, list(bodies...))...)
	return append(out, section(11, list(append([][]byte{dataAt(words, []byte(m.text))}, m.data...)...))...)
}

// dataAt is a segment of data.
func dataAt(at int64, b []byte) []byte { return join([]byte{0}, number(at), []byte{end}, sized(b)) }
