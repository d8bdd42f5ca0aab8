package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The dissents of a match are the checksums of players that differ from the
// agreed ones. Live, they stand ticks behind these, so they are read ahead. They
// are a slice and no map, which would take four times the memory.
type dissents []dissent

// A dissent is what a player reported of a tick.
type dissent struct {
	root   uint64
	tick   lockstep.Tick
	player lockstep.Player
	taken  bool
}

// maxDissents is how many dissents are kept.
const maxDissents = 1 << 19

// readDissents returns the dissents of a replay that stands at its beginning,
// and leaves it there.
func readDissents(r *replay.Reader) (dissents, error) {
	var all dissents
	if err := replay.Play(r, nil, all.add); err != nil {
		return nil, err
	}
	all.order()
	_, err := r.Seek(0)
	return all, err
}

// add takes a record.
func (d *dissents) add(r *record.Record) error {
	if r.Kind != record.KindDissent {
		return nil
	}
	if len(*d) == maxDissents {
		return fmt.Errorf("%w: more than %d checksums that differ", replay.ErrLimit, maxDissents)
	}
	*d = append(*d, dissent{root: r.Root, tick: r.Tick, player: r.Player})
	return nil
}

// order sorts the dissents by tick and player once all were added. Of several for
// the same tick and player, the last one stays.
func (d *dissents) order() {
	slices.SortStableFunc(*d, compareDissents)
	kept := (*d)[:0]
	for _, one := range *d {
		if last := len(kept) - 1; last >= 0 && compareDissents(kept[last], one) == 0 {
			kept[last] = one
		} else {
			kept = append(kept, one)
		}
	}
	*d = kept
}

func compareDissents(a, b dissent) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.player, b.player))
}

// of returns the dissents of a tick by player.
func (d dissents) of(t lockstep.Tick) dissents {
	from, _ := slices.BinarySearchFunc(d, dissent{tick: t}, compareDissents)
	to := from
	for to < len(d) && d[to].tick == t {
		to++
	}
	return d[from:to]
}

// take returns what a player reported of a tick if it differs, and was not taken
// yet.
func (d dissents) take(t lockstep.Tick, p lockstep.Player) (root uint64, ok bool) {
	i, found := slices.BinarySearchFunc(d, dissent{tick: t, player: p}, compareDissents)
	if !found || d[i].taken {
		return 0, false
	}
	d[i].taken = true
	return d[i].root, true
}
