//go:build !js

package line

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

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
			return nil, nil, fmt.Errorf("line: tick %d comes out otherwise while its calls are traced", own.Tick)
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

// stepOf returns the step of a cursor.
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
