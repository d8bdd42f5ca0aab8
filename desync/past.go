package desync

import (
	"bytes"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Past is the part of a match between a tick at which two sides had the same state, and one at which they have not.
type Past struct {
	Replay *replay.Reader
	Game   *lockstep.Game
	Agreed lockstep.Tick // both sides had the same state
	Tick   lockstep.Tick // of the states that are compared
}

// DiffStates compares the states of both sides at the Tick as the function [DiffStates] does, but the fields are in the order
// of cause, as in an [Explanation]: it simulates the ticks of the replay again, and changes each field that differs, to see
// which others follow from it. The paths are those of the side that the simulation computes. If it computes neither, or
// cannot reach the Tick, or the states are larger than 1 MiB, the fields are in the order of the schema. Of the options,
// Path, MaxTicks, Budget, of which it takes a quarter, and Now matter. The Replay keeps its position.
func (p *Past) DiffStates(a, b []byte, o Options) (state.Differences, state.Places, error) {
	o = o.withDefaults()
	o.MaxMemory = maxPast
	schema := p.Game.StateSchema()
	l, err := newListing(schema, a, b, maxListed)
	if err != nil {
		return state.Differences{}, state.Places{}, err
	}
	var again *rerun
	if l.fields.Total > 1 && max(len(a), len(b)) <= maxPast/8 {
		again, _ = p.simulate(p.Agreed, &o)
	}
	turned := bytes.Equal(again.state(p.Tick), b)
	if turned {
		if l, err = newListing(schema, b, a, maxListed); err != nil {
			return state.Differences{}, state.Places{}, err
		}
	}
	if again != nil {
		if t, err := newTester(again, &o); err == nil {
			l.byCause(t, p.Agreed, p.Tick)
		}
	}
	fields, places, err := l.Named(l.at(o.Path, maxListed))
	if turned {
		for i := range fields.List {
			d := &fields.List[i]
			d.A, d.B = d.B, d.A
		}
		for i := range places.List {
			d := &places.List[i].First
			d.A, d.B = d.B, d.A
		}
	}
	return fields, places, err
}

// simulate simulates the ticks after one again.
func (p *Past) simulate(from lockstep.Tick, o *Options) (*rerun, error) {
	r, err := p.Replay.Reopen()
	if err != nil {
		return nil, err
	}
	return simulateAgain(r, p.Game, from, from, p.Tick, o)
}

// Repeat simulates the ticks of pasts several times: at once, again, each tick from the state before it, and if the options have a
// clock, a second later. It returns where the results of one differ, or nil, and the number of runs. If the states do not fit into the memory of the
// options, it begins later. It leaves out a past whose ticks it cannot simulate; the error says why. Of the options, MaxTicks,
// MaxMemory, Budget, Apart and Now matter.
func Repeat(o Options, pasts ...Past) (parting *Parting, runs int, err error) {
	o = o.withDefaults()
	var all []*repeater
	for i := range pasts {
		p, failed := pasts[i].repeat(&o)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all = append(all, p)
	}
	for _, p := range all {
		p.later()
		runs += p.runs
		if parting = p.parting(); parting != nil {
			break
		}
	}
	return parting, runs, err
}

// repeat repeats the ticks before the difference, those after the agreement as often as there is time.
func (p *Past) repeat(o *Options) (*repeater, error) {
	from := p.Tick - min(p.Tick, max(lookBack, p.Tick-p.Agreed))
	simulate := func() (*rerun, error) { return p.simulate(from, o) }
	x, err := simulate()
	if err != nil {
		return nil, err
	}
	again := x.repeat(p.Agreed, o)
	again.again(simulate)
	again.apart()
	return again, nil
}
