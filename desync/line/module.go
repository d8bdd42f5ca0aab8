//go:build !js

package line

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Find compares two computations of the match in a file by the functions that they call. If b is nil, both are those of module a: one
// that came all the way, and one that was restored from the snapshot before the tick.
func (x *FunctionFinder) Find(ctx context.Context, f *replay.File, o Options, a, b *Module) (*Result, error) {
	h, err := header(f)
	if err != nil {
		return nil, err
	}
	s := &moduleSearch{Options: o, finder: x, file: f, head: h, modules: [2]*Module{a, b}, result: &Result{Mode: Versions}}
	if b == nil {
		s.modules[1], s.result.Mode = a, WarmCold
	} else {
		s.result.Sides = [2]string{a.Name, b.Name}
	}
	from := time.Now()
	err = s.find(ctx)
	s.result.took = time.Since(from)
	return s.result, err
}

// find finds the first tick that differs, and compares the calls in it.
func (s *moduleSearch) find(ctx context.Context) (err error) {
	for i, m := range s.modules {
		if s.games[i], err = m.Game(m.Rules.Fresh(m.Options.Budget)); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if s.schema, err = state.ParseSchema(s.head.StateSchema); err != nil {
		return err
	}
	if s.reader, err = s.file.Reader(); err != nil {
		return err
	}
	s.progress("looking for the first tick that differs")
	from := time.Now()
	err = s.walk(ctx)
	s.result.RunSeconds = time.Since(from).Seconds()
	if s.result.Mode == WarmCold {
		s.result.Sides = [2]string{"from the start", "restored before the tick"}
	}
	if err != nil {
		return err
	}
	s.report()
	p := s.parting
	if p == nil {
		if s.Tick > 0 {
			s.result.First, s.result.Last = s.Tick-1, s.Tick
		}
		s.result.Tick = cmp.Or(s.result.Tick, s.Tick)
		return nil
	}
	s.result.Tick = p.tick()
	s.result.Panics = [2]string{p.after[0].panic, p.after[1].panic}
	if s.result.Panics == [2]string{} {
		if s.result.Fields, _, err = fieldsOf(s.schema, p.after[0].state, p.after[1].state); err != nil {
			return err
		}
	}
	if len(p.legs) > 1 {
		s.result.Sides[1] = fmt.Sprintf("restored after tick %d", p.legs[0].frame.Tick-1)
	}
	s.progress("recording tick %d", s.result.Tick)
	return s.compare(ctx)
}

// report compares what the sides have computed with a bundle.
func (s *moduleSearch) report() {
	b := s.file.Bundle()
	if b == nil || s.Tick > 0 {
		return
	}
	sides := s.sums[:]
	if s.result.Mode == WarmCold {
		sides = sides[:1]
	}
	s.result.Reported = reportOn(&b.Manifest, s.result.First, sides...)
}

// A Module is a side whose rules are in a WebAssembly module.
type Module struct {
	Name  string // for people
	Bytes []byte
	Rules *module.Rules // compiled from the bytes

	// Options are those to compile the bytes again, with the trace of calls. Their budget is also that of all calls.
	Options module.Options

	// Game returns the game of a machine with these rules, as the build of the match and with its assets.
	Game func(abi.Machine) (*lockstep.Game, error)
}

// A moduleSearch is the work of [FunctionFinder.Find].
type moduleSearch struct {
	Options
	finder  *FunctionFinder
	file    *replay.File
	head    *lockstep.Header
	modules [2]*Module
	games   [2]*lockstep.Game
	schema  *state.Schema
	reader  *replay.Reader
	sums    [2][]uint64 // of a bundle: the state hashes since result.First
	parting *parting    // nil if no tick differs
	result  *Result
}

// ownWay reports whether side B comes all the way with its own states. Else it begins with those of side A.
func (s *moduleSearch) ownWay() bool { return s.result.Mode == Versions && s.Tick == 0 }

// begin returns the tick up to which a keyframe is to begin with.
func (s *moduleSearch) begin() lockstep.Tick {
	switch {
	case s.result.Mode == WarmCold:
		return 0 // hidden data may be old
	case s.Tick > 0:
		return s.Tick - 1
	}
	return s.From
}

func (s *moduleSearch) restored(g *lockstep.Game, t lockstep.Tick, state []byte) (*lockstep.Simulation, error) {
	sim, err := g.AwaitState(s.head)
	if err != nil {
		return nil, err
	}
	return sim, sim.Restore(t, state)
}

type leg struct {
	frame  lockstep.Frame
	before []byte // side A's state before it
}

// A parting is the first tick whose results differ, and how side B came to it. Side A came all the way.
type parting struct {
	legs  []leg // the ticks since B was restored; or the tick alone, if B came all the way
	after [2]outcome
}

func (p *parting) tick() lockstep.Tick { return p.legs[len(p.legs)-1].frame.Tick }

// An outcome is what a side makes of a tick.
type outcome struct {
	state []byte // nil after a panic
	panic string
}

func (o outcome) equal(p outcome) bool { return o.panic == p.panic && bytes.Equal(o.state, p.state) }

// outcomeOf returns the outcome of a step that gave err. A limit of the machine that ends the step is none.
func outcomeOf(sim *lockstep.Simulation, err error) (outcome, error) {
	if p := (*lockstep.PanicError)(nil); errors.As(err, &p) {
		if f, ok := p.Value.(*abi.Fault); ok && f.Limit {
			return outcome{}, err
		}
		return outcome{panic: fmt.Sprint(p.Value)}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{state: sim.AppendState(nil)}, nil
}

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

func (t *tracedSide) place(function int) *Place {
	f := &t.rules.Functions[function]
	return &Place{File: f.File, Line: f.Line, Func: t.name(function)}
}

// receiver finds the receiver of a method in a name that Go has written without its signs.
var receiver = regexp.MustCompile(`\.__(\w+)_\.`)

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
