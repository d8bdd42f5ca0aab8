package module

import (
	"cmp"
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
	if len(module) > MaxBytes {
		return nil, fmt.Errorf("%w: got a module of %d bytes, want at most %d", ErrLimit, len(module), MaxBytes)
	}
	safe, err := guard(module)
	if err != nil {
		return nil, err
	}
	r := &Rules{image: js.Null(), passes: cmp.Or(o.Passes, DefaultPasses), ahead: len(safe.bytes) > maxAtOnce}
	r.whole = js.Global().Call("BigInt", strconv.FormatInt(r.passes, 10))
	if r.compiled, err = compileInBrowser(safe.bytes); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrMalformed, trap(err).Text)
	}
	if err := checkExports(safe.bytes); err != nil {
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
	c, err := r.caller(func() (*instance, error) { return r.newInstance(nil) })
	if r.ahead && err == nil {
		go r.makeAhead() // an error: New fails later, which says why
	}
	return c, err
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
