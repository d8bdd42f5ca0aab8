package locksteptest

import (
	"cmp"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Length plays a match of the game until its rules end it, and returns the number of its ticks. With Options.Play, bots play it alone:
// it is a usual match of this game, of at most o.Ticks, or 1000 if that is 0. Without, random commands play it, for at most o.Ticks or
// 200. The error is one of the options; a match of rules that fail counts as one that they do not end.
func Length(g *lockstep.Game, o Options) (lockstep.Tick, error) {
	if o.Play != nil {
		o.Ticks, o.Changes, o.Weights = cmp.Or(o.Ticks, longest), -1, onlyBots(g)
	}
	o = o.filled()
	m, err := newMatch(g, o)
	if err == nil {
		return m.length()
	}
	if errors.As(err, new(*Failure)) {
		return o.Ticks, nil // another check explains it
	}
	return 0, err
}

func (m *match) length() (lockstep.Tick, error) {
	c, err := m.coordinator(ignore{}, lockstep.FollowerOptions{})
	if err != nil {
		return 0, err
	}
	author, err := m.newAuthor(newChoices(&m.options))
	if err != nil {
		return 0, err
	}
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		orders, err := author.orders(t, c.Referee().Simulation())
		if err != nil {
			return m.options.Ticks, nil // the rules or the bots fail, which another check explains
		}
		for i := range orders {
			if o := &orders[i]; o.system != nil {
				_ = issue(c, o.system) // the match goes on if it does not fit
			} else {
				c.Submit(o.player, o.sequence, o.kind, o.payload)
			}
		}
		if f, err := c.Tick(); f == nil || err != nil {
			return m.options.Ticks, nil // the same
		}
		if _, ended := c.Result(); ended {
			return t, nil
		}
		m.states[t-1] = nil // only the author compares states, and only the last one
		m.states = append(m.states, c.Referee().Simulation().AppendState(nil))
	}
	return m.options.Ticks, nil
}

// measured returns the options with the length of a match of bots alone, up to most ticks, unless they say one. bots may be nil, see
// [Thin].
func (o Options) measured(g *lockstep.Game, most lockstep.Tick, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) (Options, error) {
	if o.Ticks > 0 || o.Play == nil && bots == nil || o.Orders != nil {
		return o.filled(), nil
	}
	alone := o
	if bots != nil {
		alone.Play = bots(max(o.Seed, 1))
	}
	alone.Ticks = most
	var err error
	o.Ticks, err = Length(g, alone)
	return o.filled(), err
}

// onlyBots returns weights that exclude all random commands.
func onlyBots(g *lockstep.Game) map[string]int {
	weights := map[string]int{}
	for _, k := range g.Commands() {
		weights[k.Name] = 0
	}
	return weights
}
