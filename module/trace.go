//go:build !js

package module

import (
	"bytes"
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// Traced are rules whose calls of functions can be observed. They compute the same as others, and take a few times as long.
type Traced struct {
	*Rules
	Functions []Function // by their numbers
	Variables []Variable // those that the module tells debuggers
	own       int        // functions of the module, before those of guard
	inGo      bool
	debugged  debugged
	observers sync.Map // of each instance's api.Module: its *Observer
}

// A Function is a function of a module.
type Function struct {
	Name string // "" for none
	File string // of the source, where the module tells it for debuggers; "" if it does not
	Line int    // of its beginning
	kind kind
}

// CompileTraced compiles a module for Observe.
func CompileTraced(module []byte, o Options) (*Traced, error) {
	s, err := parseSections(module)
	if err != nil {
		return nil, err
	}
	t := &Traced{inGo: bytes.Contains(s.names, []byte(goLoop)), debugged: readDebugged(module)}
	t.Variables = t.debugged.variables
	t.own = (&reader{rest: s.bodies[sectionFunction]}).number()
	o.traced = true
	t.Rules, err = compile(experimental.WithFunctionListenerFactory(context.Background(), t), module, o)
	return t, err
}

// An Observer is a machine whose instances, which nobody has used before, tell the calls of functions. It belongs to one goroutine.
type Observer struct {
	Within
	rules *Traced
	calls calls
}

// Observer returns a machine of the rules, within a budget unless it is nil.
func (t *Traced) Observer(b *Budget) *Observer {
	o := &Observer{rules: t}
	o.once, o.instance = true, func() (*instance, error) {
		i, err := t.newInstance(b)
		if err == nil {
			t.observers.Store(i.module, o)
		}
		return i, err
	}
	return o
}

// Close ends the observation of all instances of the Observer.
func (o *Observer) Close() {
	o.rules.observers.Range(func(instance, of any) bool {
		if of == o {
			o.rules.observers.Delete(instance)
		}
		return true
	})
}

// Observe lets tell have the events of the next answers of a function, in their order. Nil disables it. The events have a hash of the
// bytes at some addresses. Only one instance may be called meanwhile.
//
// Functions of a runtime are left out: what they do depends on the memory that is free, on caches and on the garbage collector, and
// differs between two instances that compute the same.
func (o *Observer) Observe(f abi.Function, watch []uint32, tell func(Event)) {
	o.calls = calls{wanted: f, watch: watch, tell: tell, inGo: o.rules.inGo, pending: none}
}

// Memory returns the memory of the instance that tells an event. It is valid during that.
func (o *Observer) Memory() []byte {
	all, _ := o.calls.memory.Read(0, o.calls.memory.Size())
	return all
}

// IsGo reports whether the module was compiled by Go.
func (t *Traced) IsGo() bool { return t.inGo }

// IsEntry reports whether a function is samestep_call.
func (t *Traced) IsEntry(function int) bool { return t.Functions[function].kind == entry }

// NewFunctionListener implements [experimental.FunctionListenerFactory].
func (t *Traced) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	t.Functions = t.Functions[:f.Index()] // it is asked again if the cache did not have the code
	k := kindOf(f.Name(), t.inGo)
	if slices.Contains(f.ExportNames(), "samestep_call") {
		k = entry
	}
	at := t.debugged.functions[len(t.Functions)]
	t.Functions = append(t.Functions, Function{Name: f.Name(), File: at.file, Line: at.line, kind: k})
	if k == ofRuntime || len(t.Functions) > t.own {
		return nil
	}
	return listener{t}
}

type listener struct{ *Traced }

// callsOf returns the calls of an instance, or nil if nobody listens.
func (l listener) callsOf(m api.Module) *calls {
	if o, ok := l.observers.Load(m); ok {
		if c := &o.(*Observer).calls; c.tell != nil {
			c.memory = m.Memory()
			return c
		}
	}
	return nil
}

func (l listener) Before(_ context.Context, m api.Module, f api.FunctionDefinition, values []uint64, _ experimental.StackIterator) {
	if c := l.callsOf(m); c != nil {
		c.begin(int(f.Index()), l.Functions[f.Index()].kind, c.integers(f.ParamTypes(), values))
	}
}

func (l listener) After(_ context.Context, m api.Module, f api.FunctionDefinition, values []uint64) {
	if c := l.callsOf(m); c != nil {
		c.end(int(f.Index()), l.Functions[f.Index()].kind, c.integers(f.ResultTypes(), values))
	}
}

func (l listener) Abort(_ context.Context, m api.Module, _ api.FunctionDefinition, _ error) {
	if c := l.callsOf(m); c != nil {
		c.inside = false
	}
}

// A kind says what a function is for those who compare calls.
type kind uint8

const (
	ofRules   kind = iota
	ofRuntime      // which is left out
	allocates      // which is left out with all that it calls
	restarts       // Go's runtime: the function that called it begins again, on a larger stack or after other goroutines
	entry          // samestep_call
)

// goLoop is the name of the function in which Go's scheduler calls others.
const goLoop = "wasm_pc_f_loop"

// These find the names of functions that belong to a runtime, as compilers write them.
var (
	goNames = regexp.MustCompile(`^((runtime|internal|sync|reflect|type_|go_)[._]|` + engineNames() + `(lockstep|state|checksum|internal)[._]|github\.com_vmihailenco_)` +
		`|^[^.]*$` + // written in assembly
		`|\.Type_go\.shape\.`) // of lockstep.Type
	allocators = regexp.MustCompile(`^(_*(libc_|dl|mi_)?(malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign)|sbrk|dispose_chunk|emmalloc.*|runtime\..*|~lib/rt/.*|_*(rust|rdl|rg)_(alloc|dealloc|realloc|alloc_zeroed).*|.*dlmalloc.*|operator (new|delete).*|_Zn[wa].*|_Zd[la].*)$`)
)

// engineNames returns how the names of functions in this module begin where Go writes them.
func engineNames() string {
	path := strings.TrimSuffix(reflect.TypeFor[Rules]().PkgPath(), "module")
	return regexp.MustCompile(`[^\w.]`).ReplaceAllString(path, "_")
}

func kindOf(name string, inGo bool) kind {
	switch {
	case inGo && strings.HasPrefix(name, "runtime.morestack"):
		return restarts
	case inGo && goNames.MatchString(name):
		return ofRuntime
	case !inGo && allocators.MatchString(name):
		return allocates
	}
	return ofRules
}

// An Event is the beginning or the end of the call of a function.
type Event struct {
	Function int // its number
	Begins   bool

	// Values are the parameters at the beginning, and the results at the end, with 0 for those that are no integers. Nil if the
	// functions pass them in the memory, as those of Go do. They are valid during the call with the event.
	Values []uint64

	Watched uint64 // a hash of the bytes at the addresses that are watched
}

// none is the number of no function.
const none = -1

// calls makes events of the calls in one instance.
//
// Go's functions come back early, with a result of 1, to let another goroutine run or to get a larger stack. The scheduler then
// calls the innermost one again, at a position that is its parameter. These are no calls of the program: so the functions that are
// under way are kept apart from those on the stack of the machine.
type calls struct {
	tell    func(Event) // nil: nobody listens
	wanted  abi.Function
	watch   []uint32
	memory  api.Memory // of the instance
	inGo    bool
	inside  bool // samestep_call, with the wanted function
	leftOut int  // functions under way that are left out with all that they call
	stack   []int
	values  []uint64
	pending int    // the last function that began in Go, of which nobody was told yet; or none
	watched uint64 // when it began
}

// integers returns values with 0 for those that are no integers. They are valid until the next call.
func (c *calls) integers(types []api.ValueType, values []uint64) []uint64 {
	c.values = append(c.values[:0], values[:len(types)]...)
	for i, t := range types {
		switch t {
		case api.ValueTypeI64:
		case api.ValueTypeI32:
			c.values[i] = uint64(uint32(values[i])) // the rest may have other bits
		default:
			c.values[i] = 0
		}
	}
	return c.values
}

func (c *calls) begin(f int, k kind, values []uint64) {
	if k == entry {
		c.inside, c.leftOut, c.pending, c.stack = values[0] == uint64(c.wanted), 0, none, c.stack[:0]
	}
	switch {
	case !c.inside:
		return
	case k == allocates:
		c.leftOut++
	case k == restarts && c.pending != none:
		c.stack = c.stack[:len(c.stack)-1]
		c.pending = none
	}
	if k != ofRules && k != entry || c.leftOut > 0 {
		return
	}
	if c.inGo && k == ofRules && (len(values) != 1 || values[0] != 0) {
		return // it goes on
	}
	c.flush()
	c.stack = append(c.stack, f)
	if c.inGo && k == ofRules {
		c.pending, c.watched = f, c.hash()
		return
	}
	c.tell(Event{f, true, c.valuesOf(values), c.hash()})
}

// flush tells of the function that began last: it was not to begin again.
func (c *calls) flush() {
	if c.pending != none {
		c.tell(Event{Function: c.pending, Begins: true, Watched: c.watched})
		c.pending = none
	}
}

func (c *calls) end(f int, k kind, values []uint64) {
	if !c.inside {
		return
	}
	if k == allocates {
		c.leftOut--
	}
	if k != ofRules && k != entry || c.leftOut > 0 || c.inGo && k == ofRules && (len(values) != 1 || values[0] != 0) {
		return
	}
	c.inside = k != entry
	at := len(c.stack) - 1
	for at >= 0 && c.stack[at] != f {
		at--
	}
	if at < 0 {
		return // the instance was called before anybody listened
	}
	c.flush()
	for _, inner := range slices.Backward(c.stack[at+1:]) { // which a panic left
		c.tell(Event{Function: inner, Watched: c.hash()})
	}
	c.stack = c.stack[:at]
	c.tell(Event{f, false, c.valuesOf(values), c.hash()})
}

func (c *calls) valuesOf(values []uint64) []uint64 {
	if c.inGo {
		return nil
	}
	return values
}

// hash returns the FNV-1a hash of the watched bytes.
func (c *calls) hash() uint64 {
	if len(c.watch) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, at := range c.watch {
		b, _ := c.memory.ReadByte(at)
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
