//go:build !js

package line

import (
	"bytes"
	"context"
	"errors"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// blockTicks is how many ticks side B goes on if it is restored again and again. Making an instance takes longer than a tick.
const blockTicks = 8

// A walker computes the match on both sides.
type walker struct {
	*moduleSearch
	a      *replay.Cursor
	b      *lockstep.Simulation // nil until it begins
	before []byte               // side A's state
	legs   []leg
}

// walk finds the first tick whose results differ. Of a bundle it computes all ticks, for the checksums.
func (s *moduleSearch) walk(ctx context.Context) (err error) {
	w := &walker{moduleSearch: s}
	if w.a, err = replay.NewCursor(s.reader, s.games[0], s.begin()); err != nil {
		return err
	}
	w.a.TakePanic()
	if s.ownWay() {
		other, err := replay.NewCursor(s.reader, s.games[1], s.begin())
		if err != nil {
			return err
		}
		w.b = other.Simulation()
		s.note(1, outcome{state: w.b.AppendState(nil)})
	}
	w.before = w.a.Simulation().AppendState(nil)
	s.note(0, outcome{state: w.before})
	s.result.First, s.result.Last = w.a.Tick(), w.a.Tick()
	for {
		f, err := w.a.Frame()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && (isEnd(err) || errors.As(err, new(*replay.DamageError))):
			return s.untilTick() // a torn replay is good up to there
		case err != nil:
			return err
		case s.Last > 0 && f.Tick > s.Last:
			return nil
		}
		ended, err := w.step(clone(f))
		if ctx.Err() != nil {
			return context.Cause(ctx) // and ends calls
		}
		if err != nil || ended {
			return err
		}
		if s.Tick > 0 && s.result.Last >= s.Tick || s.parting != nil && s.file.Bundle() == nil {
			return s.untilTick()
		}
	}
}

// untilTick returns an error if the match ends before the tick to compare.
func (s *moduleSearch) untilTick() error {
	if s.result.Last < s.Tick {
		return &replay.TickError{Tick: s.Tick, First: s.result.First, Last: s.result.Last}
	}
	return nil
}

// step computes a tick on both sides, and reports whether one of them has no state after it.
func (w *walker) step(f lockstep.Frame) (ended bool, err error) {
	if w.restores(f.Tick) {
		if w.b, err = w.restored(w.games[1], f.Tick-1, w.before); err != nil {
			return true, err
		}
		w.legs = nil
	}
	if w.Tick > 0 || w.result.Mode == Versions {
		w.legs = nil
	}
	w.legs = append(w.legs, leg{f, w.before})
	var after [2]outcome
	if after[0], err = outcomeOf(w.a.Simulation(), w.a.Step()); err != nil {
		return true, err
	}
	after[1] = after[0]
	if w.b != nil {
		if after[1], err = outcomeOf(w.b, w.b.Step(&f)); err != nil {
			return true, err
		}
	}
	w.note(0, after[0])
	w.note(1, after[1])
	w.result.Last = f.Tick
	if w.parting == nil && !after[0].equal(after[1]) {
		w.parting = &parting{w.legs, after}
		if w.result.Mode == WarmCold {
			w.b = nil
			err = w.sooner()
		}
	}
	if w.parting == nil && after[0].panic != "" {
		w.result.Tick, w.result.Panics = f.Tick, [2]string{after[0].panic, after[1].panic}
	}
	w.before = after[0].state
	return after[0].panic != "" || after[1].panic != "", err
}

// restores reports whether side B begins with side A's state before a tick.
func (w *walker) restores(t lockstep.Tick) bool {
	switch {
	case w.Tick > 0:
		return t == w.Tick
	case w.ownWay() || w.parting != nil:
		return false
	}
	return w.b == nil || len(w.legs) == blockTicks
}

// sooner looks for a tick in the legs that differs if side B is restored just before it.
func (s *moduleSearch) sooner() error {
	legs := s.parting.legs
	for i := 1; i < len(legs); i++ {
		right := s.parting.after[0]
		if i+1 < len(legs) {
			right = outcome{state: legs[i+1].before}
		}
		sim, err := s.restored(s.games[1], legs[i].frame.Tick-1, legs[i].before)
		if err != nil {
			return err
		}
		other, err := outcomeOf(sim, sim.Step(&legs[i].frame))
		if err != nil {
			return err
		}
		if !right.equal(other) {
			s.parting.legs, s.parting.after = legs[i:i+1], [2]outcome{right, other}
			return nil
		}
	}
	return nil
}

// note keeps the state hash of a side of a bundle.
func (s *moduleSearch) note(side int, o outcome) {
	var sum checksum.Sum
	if s.file.Bundle() != nil && o.state != nil && checksum.OfBytes(&sum, s.schema, o.state) == nil {
		s.sums[side] = append(s.sums[side], sum.Hash)
	}
}

// clone returns a frame that shares no memory with f.
func clone(f *lockstep.Frame) lockstep.Frame {
	own := lockstep.Frame{Tick: f.Tick}
	for _, c := range f.Commands {
		c.Payload = bytes.Clone(c.Payload)
		own.Commands = append(own.Commands, c)
	}
	return own
}
