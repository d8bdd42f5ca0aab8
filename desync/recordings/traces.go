package recordings

import (
	"errors"
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
)

// phases returns the reader of a side: of its first recording that has any, or nil.
func (s *Side) phases() (*phaseReader, error) {
	for i, r := range append([]*Recording{s.Recording}, s.More...) {
		if r.Phases+r.Draws == 0 {
			continue
		}
		in, err := r.reader.Reopen()
		return &phaseReader{of: r, in: in, until: s.usable[i]}, err
	}
	return nil, nil
}

// traces finds the first phase and the first draws that differ.
func (d *Divergence) traces() error {
	a, errA := d.A.phases()
	b, errB := d.B.phases()
	if err := errors.Join(errA, errB); err != nil || a == nil && b == nil {
		return err
	}
	d.Traces = &Traces{}
	for i, p := range []*phaseReader{a, b} {
		if p != nil {
			d.Traces.sides[i] = p.of
		}
	}
	if a == nil || b == nil {
		return nil
	}
	last := lockstep.Tick(math.MaxUint32)
	if d.Differs {
		last = d.Tick
	}
	moreA, errA := a.advance()
	moreB, errB := b.advance()
	for moreA && moreB && min(a.tick, b.tick) <= last && errors.Join(errA, errB) == nil {
		if a.tick == b.tick {
			d.compareTick(a.tick, a.all.List, b.all.List)
		}
		t := max(a.tick, b.tick)
		switch {
		case a.tick < t:
			moreA, errA = a.advance()
		case b.tick < t:
			moreB, errB = b.advance()
		default:
			moreA, errA = a.advance()
			moreB, errB = b.advance()
		}
	}
	return errors.Join(errA, errB)
}

// compareTick compares the phases and draws of a tick that both sides have.
func (d *Divergence) compareTick(t lockstep.Tick, a, b []matchlog.Phase) {
	tr := d.Traces
	tr.Ticks++
	same := slices.Equal(a, b)
	if same && !(d.Differs && t == d.Tick) {
		return
	}
	for i, found := range []**PhaseDifference{&tr.Phase, &tr.Draws} {
		first, both, lone := firstDifference(t, a, b, i == 1)
		if d.Differs && t == d.Tick {
			tr.of[i] = [2]int{both, lone}
		}
		switch {
		case first == nil || *found != nil:
		case d.Known && t <= d.Agreed:
			if !d.earlyTrace[i] {
				d.earlyTrace[i] = true
				d.note("%s differ at tick %d, but the states agree at tick %d", first.what(i == 1), t, d.Agreed)
			}
		default:
			*found = first
		}
	}
}
