//go:build !js

package line

import (
	"cmp"
	"context"
	"fmt"
	"time"

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
