package desync

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// errOtherGame ends a walk where the simulation differs from a checksum that both sides agree on.
var errOtherGame = errors.New("both sides were computed by another game")

// A walk simulates both sides from the good tick to the bad one.
type walk struct {
	*bisector
	first, second *replay.Cursor // of A and B; second is nil if the simulation of A is that of B
	from          lockstep.Tick  // of the keyframe
	goodA, goodB  lockstep.Tick  // the last ticks at which they are right
}

// start returns a walk that begins at the last keyframes that are not after the good tick.
func (s *bisector) start() (*walk, error) {
	w := &walk{bisector: s, goodA: s.good, goodB: s.good}
	var err error
	if w.first, err = replay.NewCursor(s.a.reader, s.game, s.good); err != nil {
		return nil, err
	}
	w.from = w.first.Tick()
	if s.b.reader != nil && (s.otherGame != s.game || s.frame != nil && s.frame.Tick <= s.bad) {
		if w.second, err = replay.NewCursor(s.b.reader, s.otherGame, s.good); err != nil {
			return nil, err
		}
		w.from = min(w.from, w.second.Tick())
	}
	return w, s.a.reader.CheckTicks(max(s.bad, w.from)-w.from, s.options.MaxTicks)
}

// run simulates until the states differ, or a side's checksum differs from its simulation.
func (w *walk) run() error {
	t := max(w.good, w.first.Tick())
	if w.second != nil {
		t = max(t, w.second.Tick())
	}
	for ; t <= w.bad; t++ {
		if err := w.advance(t); err != nil {
			return err
		}
		hash := w.first.Simulation().Hash()
		if w.second != nil && w.second.Simulation().Hash() != hash {
			return w.parted(t)
		}
		x, y := w.a.evidence.find(t), w.b.evidence.find(t)
		wrongA, wrongB := x != nil && x.hash != hash, y != nil && y.hash != hash
		switch {
		case (wrongA || wrongB) && t == w.good && w.known:
			return errOtherGame
		case wrongA || wrongB:
			return w.contradicted(t, wrongA, wrongB)
		}
		if x != nil {
			w.goodA = t
		}
		if y != nil {
			w.goodB = t
		}
	}
	return fmt.Errorf("%w, nor does a state up to tick %d", ErrSame, w.bad)
}

// advance simulates both sides up to a tick.
func (w *walk) advance(t lockstep.Tick) error {
	for _, c := range []*replay.Cursor{w.first, w.second} {
		for c != nil && c.Tick() < t {
			if err := c.Step(); err == io.EOF {
				return &replay.TickError{Tick: t, First: w.from, Last: c.Tick()}
			} else if err != nil {
				return err
			}
			w.found.Simulated++
			if c == w.first && c.Tick() <= w.bad {
				w.progress(c.Tick())
			}
		}
	}
	return nil
}

// progress reports the progress up to a tick, from time to time.
func (w *walk) progress(t lockstep.Tick) {
	if done := t - w.from; w.options.Progress != nil && (done%256 == 0 || t == w.bad) {
		w.options.Progress(done, w.bad-w.from)
	}
}

// parted notes that the two simulations differ at a tick.
func (w *walk) parted(t lockstep.Tick) error {
	w.found.Tick, w.found.Cause = t, OriginGames
	if w.frame != nil && w.frame.Tick <= t {
		w.found.Cause = OriginCommands
	}
	if t > w.good {
		w.found.Agreed, w.found.Known = t-1, true
	}
	w.found.Exact = t > w.good || !w.known
	if err := w.fields(t, w.first.Simulation().AppendState(nil), w.second.Simulation().AppendState(nil)); err != nil || w.found.Cause != OriginCommands {
		return err
	}
	var err error
	if w.found.EditedA, err = w.edited(w.first, &w.a); err == nil {
		w.found.EditedB, err = w.edited(w.second, &w.b)
	}
	return err
}

// edited reports whether a side's own frames do not give its next checksum.
func (w *walk) edited(c *replay.Cursor, own *recording) (bool, error) {
	e := own.evidence
	next := e.after(c.Tick() - 1)
	if next == len(e) || own.reader.CheckTicks(e[next].tick-w.from, w.options.MaxTicks) != nil {
		return false, nil
	}
	for c.Tick() < e[next].tick {
		if err := c.Step(); err != nil {
			return false, err
		}
		w.found.Simulated++
	}
	return c.Simulation().Hash() != e[next].hash, nil
}

// contradicted notes that a side's checksum of a tick differs from its simulation.
func (w *walk) contradicted(t lockstep.Tick, a, b bool) error {
	wrong := &w.b
	w.found.Tick = t
	switch {
	case a && b:
		w.found.Cause, w.found.Agreed = OriginBoth, min(w.goodA, w.goodB)
	case a:
		w.found.Cause, w.found.Agreed, wrong = OriginA, w.goodA, &w.a
	default:
		w.found.Cause, w.found.Agreed = OriginB, w.goodB
	}
	w.found.Known = w.known || w.found.Agreed > w.good
	i := wrong.evidence.find(t)
	if i.report != nil && i.report.Sections != nil {
		var own checksum.Sum
		w.first.Simulation().Sum(&own)
		m, _ := checksum.Compare(own, checksum.Sum{Hash: i.hash, Sections: i.report.Sections}, w.schema)
		w.found.Section = m.Name
	}
	if rank(*i) > 0 {
		own := w.first.Simulation().AppendState(nil)
		other := invert(w.schema, own, i.hash, cmp.Or(w.options.MaxSearch, DefaultMaxSearch), w.options.SearchProgress)
		if other != nil {
			return w.reconstructed(wrong, own, other)
		}
	}
	return w.states(wrong, i)
}

// reconstructed notes a state that a hash search found for the wrong side.
func (w *walk) reconstructed(wrong *recording, own, other []byte) error {
	w.found.Reconstructed = true
	return w.compare(wrong, w.found.Tick, own, other)
}

// compare compares the simulation's state of a tick with the wrong side's.
func (w *walk) compare(wrong *recording, t lockstep.Tick, own, other []byte) error {
	if wrong == &w.a {
		own, other = other, own
	}
	return w.fields(t, own, other)
}

// states compares the simulation with the first known state of the wrong side, from item first on. If that state is of
// a later tick, it tries the state's differences at the item's tick, until one gives the item's checksum.
func (w *walk) states(wrong *recording, first *item) error {
	w.second = nil
	before := w.first.Simulation().AppendState(nil)
	for k := range wrong.evidence {
		i := &wrong.evidence[k]
		if i.tick < first.tick || rank(*i) > 0 {
			continue
		}
		if w.a.reader.CheckTicks(i.tick-w.from, w.options.MaxTicks) != nil {
			return nil
		}
		other, err := wrong.state(i)
		if errors.Is(err, replay.ErrNoGame) { // written later than the tick
			continue
		}
		if err != nil {
			return err
		}
		if w.advance(i.tick) != nil {
			return nil // the other one ends before
		}
		own := w.first.Simulation().AppendState(nil)
		if i.tick > first.tick && w.options.MaxSearch >= 0 {
			if changed := transfer(w.schema, before, own, other, first.hash); changed != nil {
				return w.reconstructed(wrong, before, changed)
			}
		}
		return w.compare(wrong, i.tick, own, other)
	}
	return nil
}
