// Package mutants proves the cluster simulator: it puts one mistake at a time
// into the engine, and the simulator must find each.
//
// A [Mutant] is a function and a rule that rewrites one place in it, in the style
// of gofmt -r: "a || b.expired(c) -> a" drops the second condition. Single letters
// match any expression, so a renamed variable or field, or a function that moves
// to another file of its package, leaves the mutant as it is. A rule that matches
// nothing, or more than one place, is an error.
//
// The changed files exist only while the go command builds the changed engine
// (-overlay), so nothing that is shipped contains a mistake. One program contains
// all of them, and makes the one that it is told to. The mistakes are those that
// lockstep engines are known for: a command that runs twice, a missing fence, a
// resumed stream that starts one record too late. Those with a Seen were really
// made, here or elsewhere.
//
// A [Hunt] looks for them:
//
//	samestep simulate --report --mutants
//	go test ./internal/testing/mutants -run Killed -v -args -kill -only 'paused'
//
// A Mutant with a Test is in code that the simulator does not run, such as sockets
// and HTTP. The tests of its package must find it.
package mutants

import (
	"path"
	"strings"
)

// A Mutant is one mistake.
type Mutant struct {
	Name string
	Func string // the function that makes it: "lockstep/host.(*Host).mayNote"
	Rule string // matches once in the function: "a || b -> a"
	Hits string // the invariants that it breaks, such as "I1 I4"
	Seen string // where the mistake was really made; "" if nowhere
	Test string // the tests of the package that find it, in place of the simulator
}

// split returns the path of the mutant's package from the engine's root, and the
// name of its function in that.
func (m *Mutant) split() (pkg, function string) {
	dir, name := path.Split(m.Func)
	name, function, _ = strings.Cut(name, ".")
	return dir + name, function
}

// All returns the mutants, in the order of the invariants that they break.
func All() []Mutant {
	var all []Mutant
	for _, list := range [][]Mutant{ordering, streams, seats, checksums, clients, files, regressions, limits, server} {
		all = append(all, list...)
	}
	return all
}
