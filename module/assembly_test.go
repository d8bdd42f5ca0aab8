package module

import "encoding/binary"

// An assembly is a module to be written. Its functions are 0 samestep_buffer, 1 samestep_call, 2 _initialize, and more of the
// type of the last. A body has the code without its end and without local variables.
type assembly struct {
	buffer, call, initialize []byte
	more                     [][]byte
	memory                   []byte // the type of the memory; nil: one page
	tables, variables        [][]byte
	imports                  []byte // one import; nil: none
	exports                  [][]byte
	locals                   []byte // of samestep_call
	moreLocals               []byte // of more
	sections                 []byte // at the end
	start                    bool
}

func section(id byte, items ...[]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, i := range items {
		body = append(body, i...)
	}
	return appendSized([]byte{id}, body)
}

func export(name string, kind byte, index uint64) []byte {
	return binary.AppendUvarint(append(appendSized(nil, []byte(name)), kind), index)
}

func function(locals, code []byte) []byte {
	if locals == nil {
		locals = []byte{0}
	}
	return appendSized(nil, append(append(append([]byte(nil), locals...), code...), opEnd))
}

// bytes returns the module.
func (a assembly) bytes() []byte {
	if a.buffer == nil {
		a.buffer = i32(1024)
	}
	if a.call == nil {
		a.call = i64(0) // an empty answer
	}
	if a.memory == nil {
		a.memory = []byte{0, 1}
	}
	types := [][]byte{{formFunction, 1, typeI32, 1, typeI32}, {formFunction, 2, typeI32, typeI32, 1, 0x7e}, {formFunction, 0, 0}}
	kinds := [][]byte{{0}, {1}, {2}}
	code := [][]byte{function(nil, a.buffer), function(a.locals, a.call), function(nil, a.initialize)}
	for _, f := range a.more {
		kinds, code = append(kinds, []byte{2}), append(code, function(a.moreLocals, f))
	}
	out := append([]byte(magic), section(sectionType, types...)...)
	if a.imports != nil {
		out = append(out, section(sectionImport, a.imports)...)
	}
	out = append(out, section(sectionFunction, kinds...)...)
	if a.tables != nil {
		out = append(out, section(sectionTable, a.tables...)...)
	}
	out = append(out, section(sectionMemory, a.memory)...)
	if a.variables != nil {
		out = append(out, section(sectionGlobal, a.variables...)...)
	}
	out = append(out, section(sectionExport, append([][]byte{
		export("memory", 2, 0), export("samestep_buffer", 0, 0), export("samestep_call", 0, 1), export("_initialize", 0, 2),
	}, a.exports...)...)...)
	if a.start {
		out = append(out, appendSized([]byte{sectionStart}, []byte{2})...)
	}
	out = append(out, section(sectionCode, code...)...)
	return append(out, a.sections...)
}

func i32(v int64) []byte { return appendSigned([]byte{opI32Const}, v) }

func i64(v int64) []byte { return appendSigned([]byte{opI64Const}, v) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// forever is a loop without an end.
var forever = []byte{opLoop, blockWithoutResult, 0x0c, 0, opEnd}
