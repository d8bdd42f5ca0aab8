package desync

import (
	"cmp"
	"errors"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// BisectGames finds the first tick at which two builds of a game compute different states from the commands of one replay, and
// the fields. It compares the states of every tick, beginning with those that the builds make of the configuration. Both games
// must accept the header of the replay. If no state differs, there is no error, and the result says Same. The result is never
// nil, as that of [BisectFiles].
func BisectGames(a *replay.File, g, other *lockstep.Game, o BisectOptions) (*Bisection, error) {
	x, err := openSide(a, replay.Games{g})
	if err == nil {
		err = x.noGame
	}
	if err != nil {
		return refused(fileError(a, err))
	}
	h, err := a.Header()
	if err != nil {
		return refused(fileError(a, err))
	}
	found, err := bisectGames(x.reader, h, g, other, o)
	return x.finish(found, nil, "B", o, err)
}

// bisectGames is [BisectGames] of a match with a header. It returns [ErrSame] if no state differs.
func bisectGames(r *replay.Reader, h *lockstep.Header, g, other *lockstep.Game, o BisectOptions) (*Bisection, error) {
	s := &bisector{game: g, otherGame: other, options: o, a: recording{reader: r}, b: recording{reader: r}, schema: g.StateSchema()}
	s.found.Fields.List = []state.Place{}
	if err := s.compareStarts(h); err != nil || s.found.Cause == OriginStart {
		return &s.found, err
	}
	s.bad = lockstep.MaxTick
	w := &walk{bisector: s}
	var err error
	if w.first, err = replay.NewCursor(r, g, 0); err != nil {
		return nil, err
	}
	if w.second, err = replay.NewCursor(r, other, 0); err != nil {
		return nil, err
	}
	w.from = w.first.Tick()
	s.good, s.known = w.from, true
	if err = w.untilParted(); errors.Is(err, io.EOF) || errors.As(err, new(*replay.DamageError)) {
		s.found.Agreed, s.found.Known, s.found.Compared = w.first.Tick(), true, int(w.first.Tick()-w.from)+1
		err = errors.Join(ErrSame, damageOnly(err))
	} else if err == nil {
		s.settle()
	}
	return &s.found, err
}

// damageOnly returns err, but nil for the end of the file.
func damageOnly(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// compareStarts compares the states that the games make of the configuration.
func (s *bisector) compareStarts(h *lockstep.Header) error {
	var states [2][]byte
	for i, g := range []*lockstep.Game{s.game, s.otherGame} {
		sim, err := g.NewSimulation(h)
		if err != nil {
			return err
		}
		states[i] = sim.AppendState(nil)
	}
	if string(states[0]) == string(states[1]) {
		return nil
	}
	s.found.Cause, s.found.Exact = OriginStart, true
	return s.fields(0, states[0], states[1])
}

// untilParted steps both simulations until their states differ.
func (w *walk) untilParted() error {
	for {
		errA, errB := w.first.Step(), w.second.Step()
		if err := cmp.Or(errA, errB); err != nil {
			return err
		}
		t := w.first.Tick()
		if w.found.Simulated += 2; w.options.MaxTicks > 0 && t-w.from > w.options.MaxTicks {
			return w.a.reader.CheckTicks(t-w.from, w.options.MaxTicks)
		}
		if w.first.Simulation().Hash() != w.second.Simulation().Hash() {
			return w.parted(t)
		}
	}
}
