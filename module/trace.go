//go:build !js

package module

import (
	"bytes"
	"context"
	"slices"
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
	fresh
	rules *Traced
	calls calls
}

// Observer returns a machine of the rules, within a budget unless it is nil.
func (t *Traced) Observer(b *Budget) *Observer {
	o := &Observer{fresh: newFresh(t.Rules, b), rules: t}
	o.instance = func() (*instance, error) {
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

// Before implements [experimental.FunctionListener].
func (l listener) Before(_ context.Context, m api.Module, f api.FunctionDefinition, values []uint64, _ experimental.StackIterator) {
	if c := l.callsOf(m); c != nil {
		c.begin(int(f.Index()), l.Functions[f.Index()].kind, c.integers(f.ParamTypes(), values))
	}
}

// After implements [experimental.FunctionListener].
func (l listener) After(_ context.Context, m api.Module, f api.FunctionDefinition, values []uint64) {
	if c := l.callsOf(m); c != nil {
		c.end(int(f.Index()), l.Functions[f.Index()].kind, c.integers(f.ResultTypes(), values))
	}
}

// Abort implements [experimental.FunctionListener].
func (l listener) Abort(_ context.Context, m api.Module, _ api.FunctionDefinition, _ error) {
	if c := l.callsOf(m); c != nil {
		c.inside = false
	}
}
