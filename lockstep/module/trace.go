//go:build !js

package module

import (
	"bytes"
	"context"
	"slices"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// Traced are rules whose calls of functions can be observed. They compute the same as others, and take a few times as long.
type Traced struct {
	*Rules
	Functions []Function // by their numbers
	own       int        // functions of the module, before those of guard
	sources   map[int]source
	calls     calls
}

// A Function is a function of a module.
type Function struct {
	Name string // "" for none
	File string // of the source, where the module tells it for debuggers; "" if it does not
	Line int    // of its beginning
	kind kind
}

// An Event is the beginning or the end of the call of a function.
type Event struct {
	Function int // its number
	Begins   bool

	// Values are the parameters at the beginning, and the results at the end, with 0 for those that are no integers. Nil if the
	// functions pass them in the memory, as those of Go do. They are valid during the call with the event.
	Values []uint64
}

// CompileTraced compiles a module for Observe. The machine code goes to no cache.
func CompileTraced(module []byte, o Options) (*Traced, error) {
	s, err := parseSections(module)
	if err != nil {
		return nil, err
	}
	t := &Traced{calls: calls{inGo: bytes.Contains(s.names, []byte(goLoop))}, sources: sources(module)}
	t.own = (&reader{rest: s.bodies[sectionFunction]}).number()
	o.Cache = ""
	t.Rules, err = compile(experimental.WithFunctionListenerFactory(context.Background(), t), module, o)
	return t, err
}

// Observe lets tell have the events of the next answers of a function, in their order. Nil disables it. Only one instance may be
// called meanwhile.
//
// Functions of a runtime are left out: what they do depends on the memory that is free, on caches and on the garbage collector, and
// differs between two instances that compute the same.
func (t *Traced) Observe(f abi.Function, tell func(Event)) {
	t.calls = calls{wanted: f, tell: tell, inGo: t.calls.inGo, pending: none}
}

// IsGo reports whether the module was compiled by Go.
func (t *Traced) IsGo() bool { return t.calls.inGo }

// NewFunctionListener implements [experimental.FunctionListenerFactory].
func (t *Traced) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	k := kindOf(f.Name(), t.calls.inGo)
	if slices.Contains(f.ExportNames(), "samestep_call") {
		k = entry
	}
	at := t.sources[len(t.Functions)]
	t.Functions = append(t.Functions, Function{Name: f.Name(), File: at.file, Line: at.line, kind: k})
	if k == ofRuntime || len(t.Functions) > t.own {
		return nil
	}
	return listener{t}
}

type listener struct{ *Traced }

// Before implements [experimental.FunctionListener].
func (l listener) Before(_ context.Context, _ api.Module, f api.FunctionDefinition, values []uint64, _ experimental.StackIterator) {
	if l.calls.tell != nil {
		l.calls.begin(int(f.Index()), l.Functions[f.Index()].kind, l.calls.integers(f.ParamTypes(), values))
	}
}

// After implements [experimental.FunctionListener].
func (l listener) After(_ context.Context, _ api.Module, f api.FunctionDefinition, values []uint64) {
	if l.calls.tell != nil {
		l.calls.end(int(f.Index()), l.Functions[f.Index()].kind, l.calls.integers(f.ResultTypes(), values))
	}
}

// Abort implements [experimental.FunctionListener].
func (l listener) Abort(context.Context, api.Module, api.FunctionDefinition, error) {
	l.calls.inside = false
}
