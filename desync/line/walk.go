//go:build !js

package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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
		case err != nil && (errors.Is(err, io.EOF) || errors.As(err, new(*replay.DamageError))):
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

// usualTicks is how many ticks before the one that differs tell which calls differ without a consequence: because one side
// fills a cache that the other has, or because one version has another function for the same.
const usualTicks = 8

// compare computes the tick again on both sides, and compares the calls.
func (s *moduleSearch) compare(ctx context.Context) error {
	from := time.Now()
	sides, err := s.traced()
	for _, one := range sides {
		if one != nil {
			defer one.observer.Close()
		}
	}
	s.result.BuildSeconds = time.Since(from).Seconds()
	if err != nil {
		return err
	}
	from = time.Now()
	defer func() { s.result.RunSeconds += time.Since(from).Seconds() }()
	c, usual, err := s.pass(ctx, sides, nil)
	if err != nil {
		return err
	}
	s.result.Events = [2]int{c.streams[0].begun, c.streams[1].begun}
	s.result.Finding = s.finding(c, usual)
	if s.result.Finding.Reason == Nothing {
		return s.compareMemory(ctx, sides, c)
	}
	return nil
}

// pass computes the match up to the tick that differs on both sides, and compares the calls in it, and the bytes at the addresses to
// watch, unless that is nil. It also returns the forks of the ticks before.
func (s *moduleSearch) pass(ctx context.Context, sides [2]*tracedSide, watch *[2][]uint32) (*callComparison, map[fork]bool, error) {
	p := s.parting
	var cursors [2]*replay.Cursor
	var group errgroup.Group
	for i, one := range sides {
		if i == 0 || s.ownWay() {
			group.Go(func() (err error) {
				cursors[i], err = s.upTo(ctx, one, p.tick()-min(p.tick(), usualTicks+1))
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	usual := map[fork]bool{}
	for ctx.Err() == nil {
		f, err := cursors[0].Frame()
		if err != nil {
			return nil, nil, err
		}
		own := clone(f)
		steps := [2]func() (outcome, error){stepOf(cursors[0])}
		if cursors[1] != nil {
			steps[1] = stepOf(cursors[1])
		} else if steps[1], err = s.apart(sides[1], cursors[0].Simulation(), own); err != nil {
			return nil, nil, err
		}
		c := newCallComparison(sides)
		last := own.Tick == p.tick()
		if last && watch == nil {
			c.memory = new(memories)
		} else if last {
			c.watch = *watch
		}
		after, err := c.tick(steps)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			return nil, nil, err
		case last && after[0].equal(p.after[0]) && after[1].equal(p.after[1]):
			return c, usual, nil
		case last:
			return nil, nil, fmt.Errorf("line: tick %d has another result while its calls are traced", own.Tick)
		case after[0].equal(after[1]):
			for _, f := range c.forks {
				usual[f.fork] = true
			}
		}
	}
	return nil, nil, context.Cause(ctx)
}

// upTo returns a cursor that came all the way to a tick.
func (s *moduleSearch) upTo(ctx context.Context, one *tracedSide, t lockstep.Tick) (*replay.Cursor, error) {
	c, err := replay.NewCursor(s.reader, one.game, s.begin())
	if err == nil {
		c.TakePanic()
	}
	for err == nil && c.Tick() < t {
		if err = c.Step(); ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	return c, err
}

func stepOf(c *replay.Cursor) func() (outcome, error) {
	return func() (outcome, error) { return outcomeOf(c.Simulation(), c.Step()) }
}

// apart returns a step of side B that begins with the state of a.
func (s *moduleSearch) apart(one *tracedSide, a *lockstep.Simulation, f lockstep.Frame) (func() (outcome, error), error) {
	legs := []leg{{f, a.AppendState(nil)}}
	if f.Tick == s.parting.tick() {
		legs = s.parting.legs
	}
	sim, err := s.restored(one.game, legs[0].frame.Tick-1, legs[0].before)
	for i := 0; err == nil && i < len(legs)-1; i++ {
		err = sim.Step(&legs[i].frame)
	}
	return func() (outcome, error) { return outcomeOf(sim, sim.Step(&f)) }, err
}

// maxUsual is how many functions with usual forks a note names.
const maxUsual = 3

// finding returns the first different call that is not usual, or else a usual one. A hint is the first other difference before it.
func (s *moduleSearch) finding(c *callComparison, usual map[fork]bool) *Finding {
	var first, hint *forked
	var leftOut []forked
	for _, f := range c.forks {
		switch {
		case first != nil:
		case usual[f.fork] && f.kind == differentCalls:
			leftOut = append(leftOut, f)
		case usual[f.fork]:
		case f.kind == differentCalls:
			first = &f
		case hint == nil:
			hint = &f
		}
	}
	if first == nil && hint == nil && len(leftOut) > 0 {
		first, leftOut = &leftOut[0], nil
		s.result.Notes = append(s.result.Notes, "the calls differ in the same way in ticks before, whose results are the same")
	}
	s.noteUsual(c, leftOut)
	found := &Finding{Reason: Nothing, Calls: c.begun}
	if first != nil {
		found = c.flow(first)
	}
	if hint != nil {
		found.Hint = c.numbers(hint)
	}
	return found
}

// noteUsual adds a note about forks that are left out.
func (s *moduleSearch) noteUsual(c *callComparison, forks []forked) {
	var names []string
	for _, f := range forks {
		if name := c.under(&f)[0].Func; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > maxUsual {
		names = append(names[:maxUsual], "others")
	}
	if len(names) > 0 {
		s.result.Notes = append(s.result.Notes, "different calls of "+strings.Join(names, ", ")+" are left out: they differ in ticks before, too, whose results are the same")
	}
}

// under returns the function that is under way at a fork.
func (c *callComparison) under(f *forked) (at [2]*Place) {
	for i, one := range c.sides {
		at[i] = &Place{Func: "samestep_call"}
		if n := len(f.stack); n > 0 {
			at[i] = one.place(f.stack[n-1][i])
		}
	}
	return at
}

// flow describes a fork where the sides call different functions.
func (c *callComparison) flow(f *forked) *Finding {
	found := &Finding{Reason: Flow, Where: c.under(f), Calls: f.begun, Path: c.path(f)}
	for i, next := range f.calls {
		switch {
		case next == nil:
			found.Values[i] = "ends"
		case next.begins:
			found.Values[i] = "calls " + c.sides[i].name(next.function)
		default:
			found.Values[i] = "comes back"
		}
	}
	return found
}

// numbers describes a fork where the sides call one function with different numbers.
func (c *callComparison) numbers(f *forked) *Finding {
	found := &Finding{Reason: Value, Calls: f.begun, Path: c.path(f)}
	for i, next := range f.calls {
		found.Where[i] = c.sides[i].place(next.function)
		found.Values[i] = strings.Trim(fmt.Sprint(next.values[:next.known]), "[]")
	}
	found.Text = "the result of " + found.Where[0].Func
	if f.kind == differentArguments {
		found.Text = "what " + found.Where[0].Func + " gets"
	}
	return found
}

// path returns the functions under way at a fork, from samestep_call on.
func (c *callComparison) path(f *forked) (all []Place) {
	for _, n := range f.stack {
		all = append(all, *c.sides[1].place(n[1]))
	}
	return all
}
