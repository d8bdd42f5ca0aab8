package module

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// Rules are the rules in a compiled module. They are an [abi.Machine].
//
// In a browser, no clock interrupts a call: [Options.Time] has no effect, and [Options.Passes] ends it.
type Rules struct {
	compiled js.Value // a WebAssembly.Module
	answers  js.Value // the same of splitAnswer
	image    js.Value // a Uint8Array with the first content of the memory, or null
	passes   int64    // of a call, at most
	whole    js.Value // the same, a BigInt
	ahead    bool     // instances are made before they are needed
	pool
}

// maxAtOnce is the size of the largest module, in bytes, of which a page makes instances at once. Chromium refuses more than 8 MB
// outside of workers.
const maxAtOnce = 7 << 20

// Compile compiles a module and checks it as far as that needs no call. It waits for the browser, so a function that the page calls
// must not call it.
func Compile(module []byte, o Options) (*Rules, error) {
	safe, err := guard(module)
	if err != nil {
		return nil, err
	}
	r := &Rules{image: js.Null(), passes: cmp.Or(o.Passes, DefaultPasses), ahead: len(safe.bytes) > maxAtOnce}
	r.whole = js.Global().Call("BigInt", strconv.FormatInt(r.passes, 10))
	if r.compiled, err = compileInBrowser(safe.bytes); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrMalformed, trap(err).Text)
	}
	if err := safe.checkExports(); err != nil {
		return nil, err
	}
	if r.answers, err = compileInBrowser(splitAnswer()); err != nil {
		return nil, err
	}
	if safe.image != nil {
		r.image = bytesInBrowser(safe.image)
	}
	if r.ahead {
		for range maxFree {
			if err := r.makeAhead(); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// Close forgets the compiled code. Nothing may use the rules after it.
func (r *Rules) Close() error {
	r.pool = pool{}
	r.compiled, r.answers, r.image = js.Null(), js.Null(), js.Null()
	return nil
}

// New implements [abi.Machine].
func (r *Rules) New() (abi.Caller, error) {
	if r.ahead {
		r.reclaim()
	}
	c, err := r.caller(false, func() (*instance, error) { return r.newInstance(nil) })
	if r.ahead && err == nil {
		go r.makeAhead() // an error: New fails later, which says why
	}
	return c, err
}

// Unused is New for an instance that nobody has used, see [abi.Unused].
func (r *Rules) Unused() (abi.Caller, error) {
	return r.caller(true, func() (*instance, error) { return r.newInstance(nil) })
}

// reclaim takes back the instances that nobody refers to, if no other is free: a busy page may come to no new ones for seconds.
func (r *Rules) reclaim() {
	for tries := 0; tries < 10 && r.numFree() == 0; tries++ {
		if tries == 0 {
			runtime.GC()
		}
		runtime.Gosched() // to the cleanups
	}
}

// numFree returns the number of instances that nobody uses.
func (r *Rules) numFree() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.free)
}

// makeAhead makes an instance for later, unless there are enough.
func (r *Rules) makeAhead() error {
	if r.numFree() >= maxFree {
		return nil
	}
	made, err := await(webAssembly().Call("instantiate", r.compiled))
	if err != nil {
		return trap(err)
	}
	i, err := r.initialized(made)
	if err == nil {
		r.giveBack(i)
	}
	return err
}

// newInstance makes an instance at once.
func (r *Rules) newInstance(*Budget) (*instance, error) {
	var made js.Value
	if err := catch(func() { made = webAssembly().Get("Instance").New(r.compiled) }); err != nil {
		return nil, trap(err)
	}
	return r.initialized(made)
}

// initialized returns an instance after its own beginning.
func (r *Rules) initialized(made js.Value) (*instance, error) {
	exports := made.Get("exports")
	split, err := r.split(exports)
	if err != nil {
		return nil, trap(err)
	}
	i := &instance{
		memory: exports.Get("memory"), buffer: exports.Get("samestep_buffer"), call: split.Get("call"), high: split.Get("high"),
		left: exports.Get(leftName), budget: exports.Get(budgetName), depth: exports.Get(depthName), passes: r.passes, whole: r.whole,
	}
	if !r.image.IsNull() {
		i.bytes().Call("set", r.image)
	}
	if f := exports.Get("_initialize"); f.Type() == js.TypeFunction {
		if err := i.run(func() error { f.Invoke(); return nil }); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// split returns the functions of splitAnswer for an instance.
func (r *Rules) split(exports js.Value) (functions js.Value, err error) {
	err = catch(func() {
		imports := map[string]any{"m": map[string]any{"call": exports.Get("samestep_call")}}
		functions = webAssembly().Get("Instance").New(r.answers, imports).Get("exports")
	})
	return functions, err
}

func webAssembly() js.Value { return js.Global().Get("WebAssembly") }

// bytesInBrowser copies bytes into a Uint8Array.
func bytesInBrowser(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// compileInBrowser compiles a module.
func compileInBrowser(module []byte) (js.Value, error) {
	return await(webAssembly().Call("compile", bytesInBrowser(module)))
}

// await waits for a promise.
func await(promise js.Value) (v js.Value, err error) {
	done := make(chan struct{})
	then := js.FuncOf(func(_ js.Value, args []js.Value) any { v = args[0]; close(done); return nil })
	defer then.Release()
	failed := js.FuncOf(func(_ js.Value, args []js.Value) any { err = js.Error{Value: args[0]}; close(done); return nil })
	defer failed.Release()
	promise.Call("then", then, failed)
	<-done
	return v, err
}

// catch calls a function and returns what JavaScript has thrown in it.
func catch(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case js.Error:
			err = v
		default:
			panic(v)
		}
	}()
	f()
	return nil
}

// leavesCode: nothing else runs in a page while a module does.
const leavesCode = false

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

func (i *instance) sizeBytes() int { return i.bytes().Length() }

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

func (t functionType) append(dst []byte) []byte {
	dst = binary.AppendUvarint(append(dst, formFunction), uint64(len(t.parameters)))
	dst = binary.AppendUvarint(append(dst, t.parameters...), uint64(len(t.results)))
	return append(dst, t.results...)
}

const opI64ShrU = 0x88 // only splitAnswer has it
