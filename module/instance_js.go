package module

import (
	"encoding/binary"
	"errors"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// leavesCode: nothing else runs in a page while a module does.
const leavesCode = false

// An instance is one of a module, with its own memory.
type instance struct {
	memory       js.Value // a WebAssembly.Memory
	view         js.Value // a Uint8Array of it; one of no bytes after the memory has grown
	buffer, call js.Value // functions; call returns the lower half of the answer's word
	high         js.Value // the function that returns the upper half
	out          []byte   // the answer
	left, budget js.Value // the variables leftName and budgetName
	depth        js.Value // depthName
	passes       int64    // of a call, at most
	whole        js.Value // the same
	cheap, spent bool     // false: it is used again and again
	broken       error    // after which the instance is unusable
}

// run runs a part of the module, at most for its passes. After a fault the instance is closed.
func (i *instance) run(f func() error) (err error) {
	i.left.Set("value", pauseAfter)
	i.budget.Set("value", i.whole)
	i.depth.Set("value", maxDepth)
	if thrown := catch(func() { err = f() }); thrown != nil {
		err = trap(thrown)
		if i.depth.Get("value").Int() < 0 {
			err = tooDeep()
		} else if js.Global().Call("Number", i.budget.Get("value")).Float() <= 0 {
			err = tooMuch(i.passes)
		}
	}
	if fault := (*abi.Fault)(nil); errors.As(err, &fault) {
		i.broken = fault
		i.close()
	}
	return err
}

// exchange writes the input, calls the function and returns what the module answers.
func (i *instance) exchange(f abi.Function, in []byte) ([]byte, error) {
	at := word(i.buffer.Invoke(len(in)))
	memory := i.bytes()
	if uint64(at)+uint64(len(in)) > uint64(memory.Length()) {
		return nil, outside(at, len(in))
	}
	if len(in) > 0 {
		js.CopyBytesToJS(memory.Call("subarray", at, int(at)+len(in)), in)
	}
	low := word(i.call.Invoke(uint32(f), len(in)))
	return parseAnswer(uint64(word(i.high.Invoke()))<<32|uint64(low), MaxAnswer, i.read)
}

// word returns a number of 32 bits, which JavaScript takes for a signed one.
func word(v js.Value) uint32 { return uint32(int32(v.Int())) }

// read returns a part of the memory, valid until the next call.
func (i *instance) read(at, size uint32) ([]byte, bool) {
	memory := i.bytes()
	if uint64(at)+uint64(size) > uint64(memory.Length()) {
		return nil, false
	}
	if cap(i.out) < int(size) {
		i.out = make([]byte, size, int(size)+int(size)/4)
	}
	i.out = i.out[:size]
	if size > 0 {
		js.CopyBytesToGo(i.out, memory.Call("subarray", at, int(at)+int(size)))
	}
	return i.out, true
}

// bytes returns the current memory. Its view becomes empty when the memory grows.
func (i *instance) bytes() js.Value {
	if i.view.IsUndefined() || i.view.Length() == 0 {
		i.view = js.Global().Get("Uint8Array").New(i.memory.Get("buffer"))
	}
	return i.view
}

// sizeBytes returns the size of the memory.
func (i *instance) sizeBytes() int { return i.bytes().Length() }

// close frees the instance.
func (i *instance) close() {
	none := js.Undefined()
	i.memory, i.view, i.buffer, i.call, i.high, i.left, i.budget, i.depth, i.out = none, none, none, none, none, none, none, none, nil
}

// trap returns the fault of a call that has not come back.
func trap(err error) *abi.Fault {
	var e js.Error
	if !errors.As(err, &e) || e.Type() != js.TypeObject {
		return &abi.Fault{Text: err.Error()}
	}
	fault := &abi.Fault{Text: text([]byte(e.Get("message").String()))}
	if stack := e.Get("stack"); stack.Type() == js.TypeString {
		fault.Stack = text([]byte(stack.String()))
	}
	return fault
}

// splitAnswer returns a module with the functions call and high. call calls a function of the module's type and returns the lower half
// of its answer, high the upper half of the last one: Go does not get at a number of 64 bits in JavaScript.
func splitAnswer() []byte {
	var s sections
	call := wantedFunctions[1].functionType
	s.bodies[sectionType] = lengthened(new(reader), nil, [][]byte{
		call.append(nil), functionType{call.parameters, []byte{typeI32}}.append(nil), functionType{nil, []byte{typeI32}}.append(nil),
	})
	s.bodies[sectionImport] = append([]byte{1, 1, 'm', 4}, "call\x00\x00"...)
	s.bodies[sectionFunction] = []byte{2, 1, 2}
	s.bodies[sectionGlobal] = []byte{1, typeI32, 1, opI32Const, 0, opEnd}
	s.bodies[sectionExport] = append([]byte{2}, "\x04call\x00\x01\x04high\x00\x02"...)
	s.bodies[sectionCode] = lengthened(new(reader), nil, [][]byte{
		appendSized(nil, []byte{
			1, 1, typeI64, opLocalGet, 0, opLocalGet, 1, opCall, 0, opLocalTee, 2,
			opI64Const, 32, opI64ShrU, opI32WrapI64, opGlobalSet, 0, opLocalGet, 2, opI32WrapI64, opEnd,
		}),
		appendSized(nil, []byte{0, opGlobalGet, 0, opEnd}),
	})
	return s.append(nil)
}

// append appends the type as a module has it.
func (t functionType) append(dst []byte) []byte {
	dst = binary.AppendUvarint(append(dst, formFunction), uint64(len(t.parameters)))
	dst = binary.AppendUvarint(append(dst, t.parameters...), uint64(len(t.results)))
	return append(dst, t.results...)
}

const opI64ShrU = 0x88 // only splitAnswer has it
