//go:build !js

package line

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

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

// restored returns a simulation with a state.
func (s *moduleSearch) restored(g *lockstep.Game, t lockstep.Tick, state []byte) (*lockstep.Simulation, error) {
	sim, err := g.AwaitState(s.head)
	if err != nil {
		return nil, err
	}
	return sim, sim.Restore(t, state)
}

// A leg is a tick to compute.
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
