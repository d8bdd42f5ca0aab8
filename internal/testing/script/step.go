package script

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cockroachdb/datadriven"
)

// A Step is one line of a script. The test fails after the step if an argument is missing
// or out of range, or if the interpreter has not read it.
type Step struct {
	Verb string

	args []datadriven.CmdArg
	read []string // names of arguments
	err  error
}

func parseStep(line string) (*Step, error) {
	verb, args, err := datadriven.ParseLine(line)
	return &Step{Verb: verb, args: args}, err
}

func (s *Step) find(name string) (value string, ok bool) {
	s.read = append(s.read, name)
	i := slices.IndexFunc(s.args, func(a datadriven.CmdArg) bool { return a.Key == name })
	switch {
	case i < 0:
		return "", false
	case len(s.args[i].Vals) == 0:
		return "true", true
	}
	value, err := strconv.Unquote(`"` + s.args[i].Vals[0] + `"`)
	if err != nil {
		s.fail(fmt.Errorf("script: %s: %v: %w", s.Verb, s.args[i], err))
	}
	return value, true
}

// Has reports whether the step has an argument.
func (s *Step) Has(name string) bool {
	_, ok := s.find(name)
	return ok
}

// String returns an argument, or otherwise if there is none.
func (s *Step) String(name, otherwise string) string {
	if value, ok := s.find(name); ok {
		return value
	}
	return otherwise
}

// Uint returns an argument that is an unsigned number of a number of bits.
func (s *Step) Uint(name string, bits int) uint64 {
	value, _ := s.find(name)
	v, err := strconv.ParseUint(value, 0, bits)
	if err != nil {
		s.fail(fmt.Errorf("script: %s: want %s=number: %w", s.Verb, name, err))
	}
	return v
}

// UintOr returns Uint, or otherwise if there is no such argument.
func (s *Step) UintOr(name string, bits int, otherwise uint64) uint64 {
	if !s.Has(name) {
		return otherwise
	}
	return s.Uint(name, bits)
}

func (s *Step) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// check returns the first error in the arguments.
func (s *Step) check() error {
	for _, a := range s.args {
		if !slices.Contains(s.read, a.Key) || len(a.Vals) > 1 {
			s.fail(fmt.Errorf("script: %s has no argument %v", s.Verb, a))
		}
	}
	return s.err
}
