// Package mutants tests the simulator: it makes one mistake at a time in the engine, and
// the simulator must find each. The file mutants.txt lists them.
//
// A [Mutant] is a function and a rule that rewrites one place in it, in the style of
// gofmt -r: "a || b.expired(c) -> a" drops the second condition. Single letters match any
// expression, so the mutant stays as it is if a variable or field is renamed, or the
// function moves to another file of its package. A rule that matches nothing, or more than
// one place, is an error.
//
// The changed files exist only while the go command builds the changed engine (-overlay),
// so no release contains a mistake. One program contains all mutants, and an environment
// variable selects one. The mistakes are those that lockstep engines are known for: a
// command that runs twice, a missing fence, a resumed stream that starts one record too
// late. Those with a Seen were really made, here or elsewhere.
//
// A [Hunt] looks for them:
//
//	samestep simulate --report --mutants
//	go test ./internal/testing/mutants -run Killed -v -args -kill -only 'paused'
//
// A Mutant with a Test is in code that the simulator does not run, such as sockets and
// HTTP. The tests of its package must find it, or those of a package that uses it.
package mutants

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"
)

// A Mutant is one mistake.
type Mutant struct {
	Name  string
	Func  string // the function that makes it: "lockstep/host.(*Host).mayNote"
	Rule  string // matches once in the function: "a || b -> a"
	Hits  string // the invariants that it breaks, such as "I1 I4"
	Match string // the match that finds it soonest: a file of the simulator's corpus, or a seed; "": one of the first
	Seen  string // where the mistake was really made; "" if nowhere
	Test  string // tests that find it, if the simulator cannot: of its package, or of the one before a dot, "cmd/samestep/tool.TestScripts"
}

// split returns the path of the mutant's package from the engine's root, and the
// name of its function in that.
func (m *Mutant) split() (pkg, function string) {
	dir, name := path.Split(m.Func)
	name, function, _ = strings.Cut(name, ".")
	return dir + name, function
}

// tests returns the package with the tests that find the mutant, and their names.
func (m *Mutant) tests() (pkg, names string) {
	if i := strings.LastIndexByte(m.Test, '.'); i >= 0 {
		return m.Test[:i], m.Test[i+1:]
	}
	pkg, _ = m.split()
	return pkg, m.Test
}

// list has the mutants, by kind of mistake: the name of each, and below it a line for
// each of its fields.
//
//go:embed mutants.txt
var list string

// All returns the mutants of mutants.txt.
func All() []Mutant {
	all, err := Parse(list)
	if err != nil {
		panic(err) // the list is embedded
	}
	return all
}

// errList is wrapped by the errors of Parse.
var errList = errors.New("mutants: malformed list")

// Parse reads a list of mutants, as in mutants.txt.
func Parse(text string) (all []Mutant, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		field, isField := strings.CutPrefix(line, "  ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !isField:
			all = append(all, Mutant{Name: line})
		case len(all) == 0 || !all[len(all)-1].set(strings.Cut(field, " ")):
			return nil, fmt.Errorf("%w: line %d: got %q, want one func, rule, hits, match, seen or test", errList, number, line)
		}
	}
	for i := range all {
		if m := &all[i]; m.Func == "" || m.Rule == "" || m.Hits == "" {
			return nil, fmt.Errorf("%w: %s: want a func, a rule and hits", errList, m.Name)
		}
	}
	return all, nil
}

// set sets a field, and reports whether it is one that has no value yet.
func (m *Mutant) set(name, value string, ok bool) bool {
	field := map[string]*string{"func": &m.Func, "rule": &m.Rule, "hits": &m.Hits, "match": &m.Match, "seen": &m.Seen, "test": &m.Test}[name]
	if !ok || field == nil || *field != "" {
		return false
	}
	*field = value
	return true
}
