package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The mismatches of a match are the checksums of players that differ from the
// agreed ones. Live, they stand ticks behind these, so they are read ahead. They
// are a slice and no map, which would take four times the memory.
type mismatches []mismatch

// A mismatch is what a player reported of a tick.
type mismatch struct {
	hash   uint64
	tick   lockstep.Tick
	player lockstep.Player
	taken  bool
}

// maxMismatches is how many mismatches are kept.
const maxMismatches = 1 << 19

// readMismatches returns the mismatches of a replay that stands at its beginning,
// and leaves it there.
func readMismatches(r *replay.Reader) (mismatches, error) {
	var all mismatches
	if err := replay.Play(r, nil, all.add); err != nil {
		return nil, err
	}
	all.order()
	_, err := r.Seek(0)
	return all, err
}

// add takes a record.
func (d *mismatches) add(r *record.Record) error {
	if r.Kind != record.KindMismatch {
		return nil
	}
	if len(*d) == maxMismatches {
		return fmt.Errorf("%w: more than %d checksums that differ", replay.ErrLimit, maxMismatches)
	}
	*d = append(*d, mismatch{hash: r.Hash, tick: r.Tick, player: r.Player})
	return nil
}

// order sorts the mismatches by tick and player once all were added. Of several for
// the same tick and player, the last one stays.
func (d *mismatches) order() {
	slices.SortStableFunc(*d, compareMismatches)
	kept := (*d)[:0]
	for _, one := range *d {
		if last := len(kept) - 1; last >= 0 && compareMismatches(kept[last], one) == 0 {
			kept[last] = one
		} else {
			kept = append(kept, one)
		}
	}
	*d = kept
}

func compareMismatches(a, b mismatch) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.player, b.player))
}

// of returns the mismatches of a tick by player.
func (d mismatches) of(t lockstep.Tick) mismatches {
	from, _ := slices.BinarySearchFunc(d, mismatch{tick: t}, compareMismatches)
	to := from
	for to < len(d) && d[to].tick == t {
		to++
	}
	return d[from:to]
}

// take returns what a player reported of a tick if it differs, and was not taken
// yet.
func (d mismatches) take(t lockstep.Tick, p lockstep.Player) (hash uint64, ok bool) {
	i, found := slices.BinarySearchFunc(d, mismatch{tick: t, player: p}, compareMismatches)
	if !found || d[i].taken {
		return 0, false
	}
	d[i].taken = true
	return d[i].hash, true
}
