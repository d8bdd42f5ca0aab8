package desync

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A recordedCheck is what a side knows about the state of a tick.
type recordedCheck struct {
	hash  uint64     // the checksum
	of    *Recording // that has it, or nil
	state uint64     // the hash of the state
	from  *Recording // that has it, or nil
	tick  lockstep.Tick
	at    int32 // of the checksums of the sections, as in a recordedSum
}

// checks returns what a side knows, by tick. Of several recordings the first one counts.
func (s *RecordedSide) checks() []recordedCheck {
	var all []recordedCheck
	for i, r := range append([]*Recording{s.Recording}, s.More...) {
		for _, sum := range r.sums {
			if sum.tick < s.usable[i] {
				all = append(all, recordedCheck{tick: sum.tick, hash: sum.hash, of: r, at: sum.at})
			}
		}
		for _, dump := range r.dumps {
			if dump.tick < s.usable[i] {
				all = append(all, recordedCheck{tick: dump.tick, state: dump.hash, from: r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b recordedCheck) int { return cmp.Compare(a.tick, b.tick) })
	kept := all[:0]
	for _, c := range all {
		if last := len(kept) - 1; last >= 0 && kept[last].tick == c.tick {
			kept[last].add(c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// add takes the checksum and the state from o that c lacks.
func (c *recordedCheck) add(o recordedCheck) {
	if c.of == nil && o.of != nil {
		c.hash, c.of, c.at = o.hash, o.of, o.at
	}
	if c.from == nil && o.from != nil {
		c.state, c.from = o.state, o.from
	}
}

// lacks reports whether a side has no state of a tick.
func lacks(side []recordedCheck, t lockstep.Tick) bool {
	i, found := slices.BinarySearchFunc(side, t, func(c recordedCheck, t lockstep.Tick) int { return cmp.Compare(c.tick, t) })
	return !found || side[i].from == nil
}
