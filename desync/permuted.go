package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/state"
)

// orders tries the order that a list has on the wrong side, after each of the ticks: an unstable sort gives another order
// of equal elements.
func (s *search) orders(lists []diff.List, orders []state.Place) error {
	for _, o := range orders {
		l := lists[slices.IndexFunc(lists, func(l diff.List) bool { return l.Name == o.Path })]
		v, err := s.again.game.StateSchema().Lookup(s.wrong, l.Name)
		if err != nil {
			return err
		}
		if err := s.order(l, l.Ranks(v), o.String()); err != nil {
			return err
		}
	}
	return nil
}

// order tries one list in the order of rank.
func (s *search) order(l diff.List, rank map[uint64]int, text string) error {
	var found *Cause
	for t := s.bad; ; t-- {
		if changed := l.Permuted(s.again.game.StateSchema(), s.again.state(t), rank); changed != nil {
			if err := s.between(&found, variation{from: t, state: changed}, func() *Cause {
				return &Cause{Kind: PermutedList, rank: rankOrder, Path: l.Name, Text: text + "; all else follows from it"}
			}); err != nil {
				return err
			}
		}
		if t == s.good {
			return nil
		}
	}
}
