package module

import (
	"encoding/binary"
	"fmt"
)

// FromGo returns the module of a Go program for wasip1 without its imports. Each function of the system that the program imports becomes
// a function of the module, which gives the same answer on every machine: the clock stands still, random bytes are zeros, there are no
// arguments, no environment and no files, and the end of the program traps.
func FromGo(module []byte) ([]byte, error) {
	s, err := parseSections(module)
	if err != nil {
		return nil, err
	}
	types := (&reader{rest: s.bodies[sectionType]}).types()
	var indices, bodies [][]byte
	r := &reader{rest: s.bodies[sectionImport]}
	for _, f := range r.imports(types) {
		indices = append(indices, binary.AppendUvarint(nil, uint64(f.index)))
		bodies = append(bodies, appendSized(nil, f.body()))
	}
	if r.err != nil {
		return nil, r.err
	}
	s.bodies[sectionImport] = nil
	// The imported functions come before the others, so the numbers of all functions stay.
	if err := s.rewrite(sectionFunction, func(r *reader) []byte { return lengthened(r, indices, nil) }); err != nil {
		return nil, err
	}
	if err := s.rewrite(sectionCode, func(r *reader) []byte { return lengthened(r, bodies, nil) }); err != nil {
		return nil, err
	}
	if err := s.rewrite(sectionData, mergeData); err != nil {
		return nil, err
	}
	return s.append(nil), nil
}

// A systemImport is a function of the system that a module imports.
type systemImport struct {
	name  string
	index int // of its type
	functionType
}

const noFile = 8 // EBADF of WASI

// body returns the body of the function that takes the place of the import.
func (s *systemImport) body() []byte {
	body := []byte{0} // no locals
	if len(s.results) != 1 || s.results[0] != typeI32 {
		return append(body, opUnreachable, opEnd) // proc_exit
	}
	answer := byte(0)
	switch s.name {
	case "clock_time_get":
		// Not 0: the runtime of Go takes a clock that gives 0 for one that does not work.
		body = append(body, opLocalGet, 2, opI64Const, 1, opI64Store, 3, 0)
	case "args_sizes_get", "environ_sizes_get":
		for p := range byte(2) {
			body = append(body, opLocalGet, p, opI32Const, 0, opI32Store, 2, 0)
		}
	case "random_get", "args_get", "environ_get", "sched_yield", "poll_oneoff":
	case "fd_write": // of a panic: its text is lost, and proc_exit traps
	default:
		answer = noFile
	}
	return append(body, opI32Const, answer, opEnd)
}

func (r *reader) imports(types []functionType) (all []systemImport) {
	if len(r.rest) == 0 {
		return nil
	}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		module, name := string(r.bytes(r.number())), string(r.bytes(r.number()))
		kind, index := r.byte(), r.number()
		if kind != 0 || module != "wasi_snapshot_preview1" || index >= len(types) {
			r.err = fmt.Errorf("%w: %.64q of %.64q, which is not a function of wasip1", ErrImports, name, module)
			return nil
		}
		all = append(all, systemImport{name, index, types[index]})
	}
	return all
}
