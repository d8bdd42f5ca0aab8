package script

import (
	"fmt"
	"slices"
	"strconv"
)

// A Step is one line of a script. An argument that is missing or out of range
// fails the test after the step; so does one that the interpreter never asked
// for.
type Step struct {
	Verb string

	args []argument
	err  error
}

type argument struct {
	name, value string
	used        bool
}

// parseStep splits a line into a verb and its arguments.
func parseStep(line string) (*Step, error) {
	s := &Step{}
	for at := 0; at < len(line); {
		if line[at] == ' ' {
			at++
			continue
		}
		var a argument
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '=' {
			end++
		}
		a.name, a.value = line[at:end], "true"
		if end < len(line) && line[end] == '=' {
			var err error
			if a.value, end, err = parseValue(line, end+1); err != nil {
				return nil, err
			}
		}
		at = end
		if s.Verb == "" {
			s.Verb = a.name
		} else {
			s.args = append(s.args, a)
		}
	}
	return s, nil
}

// parseValue returns the value that begins at a place in line, and where it ends.
func parseValue(line string, at int) (value string, end int, err error) {
	if at < len(line) && line[at] == '"' {
		quoted, err := strconv.QuotedPrefix(line[at:])
		if err != nil {
			return "", 0, fmt.Errorf("script: at %q: %w", line[at:], err)
		}
		value, err = strconv.Unquote(quoted)
		return value, at + len(quoted), err
	}
	for end = at; end < len(line) && line[end] != ' '; end++ {
	}
	return line[at:end], end, nil
}

func (s *Step) find(name string) *argument {
	i := slices.IndexFunc(s.args, func(a argument) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	s.args[i].used = true
	return &s.args[i]
}

// Has reports whether the step has an argument.
func (s *Step) Has(name string) bool { return s.find(name) != nil }

// String returns an argument, or otherwise where the step has none.
func (s *Step) String(name, otherwise string) string {
	if a := s.find(name); a != nil {
		return a.value
	}
	return otherwise
}

// Uint returns an argument that is a number of at most so many bits.
func (s *Step) Uint(name string, bits int) uint64 {
	a := s.find(name)
	if a == nil {
		s.fail(fmt.Errorf("script: want %s=number", name))
		return 0
	}
	v, err := strconv.ParseUint(a.value, 0, bits)
	if err != nil {
		s.fail(fmt.Errorf("script: %s: %w", name, err))
	}
	return v
}

// UintOr is Uint, or otherwise where the step has no such argument.
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

// check returns what is wrong with the arguments.
func (s *Step) check() error {
	for _, a := range s.args {
		if !a.used {
			s.fail(fmt.Errorf("script: %s has no argument %s", s.Verb, a.name))
		}
	}
	return s.err
}
