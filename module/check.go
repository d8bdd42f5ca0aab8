package module

import "fmt"

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

// checkExports checks what a module offers. The module imports nothing.
func checkExports(module []byte) error {
	s, err := parseSections(module)
	if err != nil {
		return err
	}
	functions, memory, err := s.exports()
	if err != nil {
		return err
	}
	if !memory {
		return fmt.Errorf("%w: it exports no memory \"memory\"", ErrMalformed)
	}
	types, err := s.functionTypes()
	if err != nil {
		return err
	}
	for _, w := range wantedFunctions {
		index, ok := functions[w.name]
		if !ok || index >= len(types) {
			return fmt.Errorf("%w: it exports no function %s", ErrMalformed, w.name)
		}
		if !types[index].equal(w.functionType) {
			return fmt.Errorf("%w: its function %s has other types than in docs/spec/abi.md", ErrMalformed, w.name)
		}
	}
	if index, ok := functions["_initialize"]; ok && index < len(types) && !types[index].equal(functionType{}) {
		return fmt.Errorf("%w: its function _initialize has parameters or results, want none", ErrMalformed)
	}
	return nil
}

// exports returns the numbers of the exported functions by name, and whether the memory is exported as "memory".
func (s *sections) exports() (functions map[string]int, memory bool, err error) {
	functions = map[string]int{}
	r := &reader{rest: s.bodies[sectionExport]}
	n := 0
	if len(r.rest) > 0 {
		n = r.number()
	}
	for ; n > 0 && r.err == nil; n-- {
		name, kind, index := string(r.bytes(r.number())), r.byte(), r.number()
		switch kind {
		case exportFunction:
			functions[name] = index
		case exportMemory:
			memory = memory || name == "memory"
		}
	}
	if r.err != nil {
		return nil, false, fmt.Errorf("%w: exports: %w", ErrMalformed, r.err)
	}
	return functions, memory, nil
}

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

// equal reports whether two types are the same.
func (t functionType) equal(o functionType) bool {
	return string(t.parameters) == string(o.parameters) && string(t.results) == string(o.results)
}
