// Package mutants proves the cluster simulator: it puts one mistake at a time
// into the engine, and the simulator must find each.
//
// A [Mutant] is a place in a file and what stands there instead. The changed
// files exist only while the go command builds the changed engine (-overlay), so
// there is no trace of mistakes in what is shipped. One program has all of them,
// and makes the one that it is told to. The mistakes are those that
// lockstep engines are known for: a command that runs twice, a fence that is
// left out, a resumed stream that begins one record too late. Those with a Seen
// were made in earnest, here or elsewhere.
//
// A [Hunt] looks for them, and a [Toll] says what came of it:
//
//	samestep simulate --report --mutants
//	go test ./internal/testing/mutants -run Killed -v -args -kill -only 'paused'
//
// What the simulator has none of, such as sockets and HTTP, is tested by its
// package: a Mutant with a Test is hunted by that.
package mutants

import (
	"fmt"
	"strings"
)

// A Mutant is one mistake.
type Mutant struct {
	Name string
	File string // path from the repository's root
	Old  string // stands once in the file
	New  string
	Hits string // the invariants that it breaks, such as "I1 I4"
	Seen string // where the mistake was really made; "" if nowhere
	Test string // the tests of the file's package that find it, in place of the simulator
}

// Apply returns source with the mistake in it.
func (m *Mutant) Apply(source []byte) ([]byte, error) {
	if n := strings.Count(string(source), m.Old); n != 1 {
		return nil, fmt.Errorf("mutants: %s: %s has its text %d times, want once", m.Name, m.File, n)
	}
	return []byte(strings.Replace(string(source), m.Old, m.New, 1)), nil
}

// All returns the mutants, in the order of the invariants that they break.
func All() []Mutant {
	var all []Mutant
	for _, list := range [][]Mutant{ordering, streams, seats, checksums, clients, files, museum, hands, doors} {
		all = append(all, list...)
	}
	return all
}
