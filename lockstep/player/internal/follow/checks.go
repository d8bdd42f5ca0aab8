package follow

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Limits of what is kept about checks.
const keptChecks, keptDiffering = 8, 16

// A Check is what the client knows about the checksums of one checked tick.
type Check struct {
	Tick      lockstep.Tick
	Ours      uint64      // 0 if it was not compared
	Match     uint64      // the one that the log says is the match's; 0 if it has not said it
	Differing []Differing // the first players with another one, this client's among them
}

// Differing is a player's checksum that is not the match's.
type Differing struct {
	Player lockstep.Player
	Hash   uint64
}

// list returns all, oldest first.
func (c *checks) list() []Check {
	var all []Check
	for i := range c {
		if k := &c[i]; k.Tick > 0 {
			all = append(all, Check{k.Tick, k.ours, k.match, slices.Clone(k.differing[:k.n])})
		}
	}
	slices.SortStableFunc(all, func(a, b Check) int { return cmp.Compare(a.Tick, b.Tick) })
	return all
}

// checks is a ring of the latest checks. The check of tick t is at index t / CheckEvery % len. It allocates nothing.
type checks [keptChecks]keptCheck

type keptCheck struct {
	lockstep.Tick
	ours, match uint64
	n           int
	differing   [keptDiffering]Differing
}

// of returns the check of a tick. It drops the one before it in the same place, and returns nil for one that was dropped.
func (c *checks) of(t, every lockstep.Tick) *keptCheck {
	k := &c[t/every%keptChecks]
	switch {
	case t < k.Tick:
		return nil
	case t > k.Tick:
		*k = keptCheck{Tick: t}
	}
	return k
}

// match takes a checksum of the match.
func (c *checks) match(t, every lockstep.Tick, hash uint64) {
	if k := c.of(t, every); k != nil {
		k.match = hash
	}
}

// compared takes the client's own checksum.
func (c *checks) compared(t, every lockstep.Tick, hash uint64) {
	if k := c.of(t, every); k != nil {
		k.ours = hash
	}
}

// differs takes a player's checksum that differs.
func (c *checks) differs(t, every lockstep.Tick, d Differing) {
	k := c.of(t, every)
	if k == nil || k.n == keptDiffering || slices.ContainsFunc(k.differing[:k.n], func(o Differing) bool { return o.Player == d.Player }) {
		return
	}
	k.differing[k.n] = d
	k.n++
}
