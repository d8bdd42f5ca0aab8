package locksteptest

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

const thinMatches = 8 // matches that together must not be thin

// Thin plays eight matches, whose seeds begin at o.Seed, and returns [ErrThin] if these together prove too little. [Fuzz],
// [Search] and, without bots, [Cluster] call it first. Bots play every second match alone. bots returns Options.Play for the match of a seed; nil stands for that of the
// options. Thin returns nil if the rules fail in a match, because another check explains that. Other errors are those of the options.
func Thin(g *lockstep.Game, o Options, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) error {
	_, err := thin(g, o, bots)
	return err
}

// thin is Thin. It returns what the matches have reached, or nil if the rules failed.
func thin(g *lockstep.Game, o Options, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) (*Reached, error) {
	var sum *tally
	o, err := o.measured(g, longest, bots)
	if err != nil {
		return nil, err
	}
	play := o.Play
	for i := range thinMatches {
		o := o
		o.Seed += uint64(i)
		if bots != nil {
			o.Play = bots(o.Seed)
			play = o.Play
		}
		if o.Play != nil && i%2 == 1 {
			o.Weights = onlyBots(g)
		}
		m, err := newMatch(g, o)
		if err == nil {
			err = m.play()
		}
		if errors.As(err, new(*Failure)) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		t := m.tally()
		t.include(sum)
		sum = t
	}
	o.Play = play
	if err = sum.thin(&o); err != nil {
		err = fmt.Errorf("%w\nthese are the %d matches that are played first, to see what such matches reach", err, thinMatches)
	}
	return sum.reached.Reached(), err
}
