package desync

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// maxOtherDraws is the largest number of draws too many, or too few, that is tried.
const maxOtherDraws = 50

// draws tries more and fewer draws from each generator, after each tick: as many as the final states show, or, if the
// generator was drawn from since, any number.
func (s *search) draws(streams []Stream) error {
	for _, x := range streams {
		w, ok := diff.Watch(s.again.game.StateSchema(), s.again.state(s.bad), x.Path)
		if !ok || x.Altered || !x.Known || x.Wrong == x.Right {
			continue
		}
		if n := int64(x.Wrong - x.Right); n >= -maxOtherDraws && n <= maxOtherDraws {
			if err := s.drawn(w, int(n)); err != nil {
				return err
			}
		}
		for n := 1; n <= maxOtherDraws; n++ {
			for _, n := range []int{n, -n} {
				if int64(n) == int64(x.Wrong-x.Right) {
					continue
				}
				if err := s.drawn(w, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// drawn tries n draws more than on the right side, after each of the ticks.
func (s *search) drawn(w *diff.Watcher, n int) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if r, at, ok := s.shifted(w, t, n); ok {
			changed := slices.Clone(s.again.state(t))
			binary.LittleEndian.PutUint64(changed[at:], r.Hi)
			binary.LittleEndian.PutUint64(changed[at+8:], r.Lo)
			if err := s.between(&found, variation{from: t, state: changed}, func() *Cause { return s.drawCause(w, n) }); err != nil {
				return err
			}
		}
		if t == s.good {
			return nil
		}
	}
}

func (s *search) drawCause(w *diff.Watcher, n int) *Cause {
	often, many := "too often", n
	if n < 0 {
		often, many = "too seldom", -n
	}
	return &Cause{Kind: OtherDraws, rank: rankDraws, Path: w.Name(), Text: fmt.Sprintf("%s was drawn from %s (%s); all else follows from it", w.Name(), often, diff.Draws(uint64(many)))}
}

// shifted returns the generator after n more draws at a tick, and its offset in the state. Fewer draws are known only back
// to tick good.
func (s *search) shifted(w *diff.Watcher, t lockstep.Tick, n int) (r fixed.Rand, offset int, ok bool) {
	r, offset, ok = w.Generator(s.again.state(t))
	if ok && n < 0 {
		before, _, known := w.Generator(s.again.state(s.good))
		since, near := before.DrawsTo(r)
		if n += int(since); !known || !near || n < 0 {
			return r, 0, false
		}
		r = before
	}
	for range n {
		r.Uint64()
	}
	return r, offset, ok
}

// between tries a state that was altered after a tick, or computed so in it. All such causes of one kind and place are one:
// found is the first of them, whose span grows.
func (s *search) between(found **Cause, v variation, cause func() *Cause) error {
	n := len(s.found)
	span := Span{max(v.from, s.good+1), min(v.from+1, s.bad)} // at tick good both sides were equal
	err := s.try(v, func() *Cause {
		c := cause()
		c.When = span
		return c
	})
	if err != nil || len(s.found) == n {
		return err
	}
	latest := s.found[n]
	if c := *found; c != nil {
		c.When.From, c.When.To = min(c.When.From, span.From), max(c.When.To, span.To)
		c.fault = latest.fault
		s.found = s.found[:n]
		return nil
	}
	*found = latest
	return nil
}
