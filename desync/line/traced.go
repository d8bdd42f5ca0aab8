//go:build !js

package line

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/module"
)

// A tracedSide computes ticks, and tells the calls in them.
type tracedSide struct {
	rules    *module.Traced
	observer *module.Observer
	game     *lockstep.Game
	ids      []int // of functions, by their numbers: equal for functions of both sides with one name
}

// traceTime is the longest that a traced call may take. It is slower than others, and waits for the other side.
const traceTime = 10 * time.Minute

// A FunctionFinder finds the functions of several files, and compiles each module once with the trace of its calls. The zero value is
// ready.
type FunctionFinder struct {
	compiled map[*module.Rules]*module.Traced
}

// Close frees the compiled code.
func (x *FunctionFinder) Close() error {
	var all error
	for _, t := range x.compiled {
		all = errors.Join(all, t.Close())
	}
	x.compiled = nil
	return all
}

// trace returns the compiled code of a module.
func (x *FunctionFinder) trace(m *Module) (*module.Traced, error) {
	if t := x.compiled[m.Rules]; t != nil {
		return t, nil
	}
	o := m.Options
	o.Time = traceTime
	t, err := module.CompileTraced(m.Bytes, o)
	if err != nil {
		return nil, err
	}
	if x.compiled == nil {
		x.compiled = map[*module.Rules]*module.Traced{}
	}
	x.compiled[m.Rules] = t
	return t, nil
}

// traced returns the sides, whose observers the caller closes.
func (s *moduleSearch) traced() (sides [2]*tracedSide, err error) {
	known := map[string]int{}
	for i, m := range s.modules {
		one := &tracedSide{}
		if one.rules, err = s.finder.trace(m); err != nil {
			return sides, err
		}
		sides[i], one.observer = one, one.rules.Observer(m.Options.Budget)
		if one.game, err = m.Game(one.observer); err != nil {
			return sides, err
		}
		for n := range one.rules.Functions {
			name := one.name(n)
			if _, ok := known[name]; !ok {
				known[name] = len(known)
			}
			one.ids = append(one.ids, known[name])
		}
	}
	return sides, nil
}

// place returns the place of a function.
func (t *tracedSide) place(function int) *Place {
	f := &t.rules.Functions[function]
	return &Place{File: f.File, Line: f.Line, Func: t.name(function)}
}

// receiver finds the receiver of a method in a name that Go has written without its signs.
var receiver = regexp.MustCompile(`\.__(\w+)_\.`)

// name returns the name of a function, for people.
func (t *tracedSide) name(function int) string {
	name := t.rules.Functions[function].Name
	switch {
	case name == "":
		return fmt.Sprintf("function %d", function)
	case t.rules.IsGo():
		return receiver.ReplaceAllString(name, ".(*$1).")
	}
	return name
}
