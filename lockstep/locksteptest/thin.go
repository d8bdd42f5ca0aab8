package locksteptest

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

const thinMatches = 8 // matches that together must not be thin

// Thin plays eight matches, whose seeds begin at o.Seed, and returns [ErrThin] if these together prove too little. [Fuzz],
// [Search] and, without bots, [Cluster] call it first. bots returns Options.Play for the match of a seed; nil stands for random
// commands only. Thin returns nil if the rules fail in a match, because another check explains that. Other errors are those of
// the options.
func Thin(g *lockstep.Game, o Options, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) error {
	var sum *tally
	o = o.filled()
	for range thinMatches {
		if bots != nil {
			o.Play = bots(o.Seed)
		}
		m, err := newMatch(g, o)
		if err == nil {
			err = m.play()
		}
		if f := (*Failure)(nil); errors.As(err, &f) {
			return nil
		}
		if err != nil {
			return err
		}
		t := m.tally()
		t.include(sum)
		sum = t
		o.Seed++
	}
	return sum.thin(&o)
}
