//go:build !js

package replays

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The mismatches of a match are the checksums of players that differ from the agreed ones. In the log of a live match
// they stand ticks after these, so they are read ahead. A map would take four times the memory of the slice.
type mismatches []mismatch

// A mismatch is the checksum that a player reported of a tick.
type mismatch struct {
	hash   uint64
	tick   lockstep.Tick
	player lockstep.Player
	taken  bool
}

const maxMismatches = 1 << 19 // that are kept

// readMismatches returns the mismatches of a replay, and then seeks to the beginning.
func readMismatches(r *replay.Reader) (mismatches, error) {
	var all mismatches
	if err := replay.Play(r, nil, all.add); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a cut replay has them up to there
		return nil, err
	}
	all.order()
	_, err := r.Seek(0)
	return all, err
}

// add adds a record, if it is a mismatch.
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

// order sorts the mismatches by tick and player after all were added. Of several for the same tick and player, it keeps
// the last one.
func (d *mismatches) order() {
	slices.Reverse(*d)
	slices.SortStableFunc(*d, compareMismatches)
	*d = slices.CompactFunc(*d, func(a, b mismatch) bool { return compareMismatches(a, b) == 0 })
}

func compareMismatches(a, b mismatch) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.player, b.player))
}

// of returns the mismatches of a tick by player.
func (d mismatches) of(t lockstep.Tick) mismatches {
	from, _ := slices.BinarySearchFunc(d, t, func(m mismatch, t lockstep.Tick) int { return cmp.Compare(m.tick, t) })
	to := from
	for to < len(d) && d[to].tick == t {
		to++
	}
	return d[from:to]
}

// take returns the mismatch of a player at a tick, once.
func (d mismatches) take(t lockstep.Tick, p lockstep.Player) (hash uint64, ok bool) {
	i, found := slices.BinarySearchFunc(d, mismatch{tick: t, player: p}, compareMismatches)
	if !found || d[i].taken {
		return 0, false
	}
	d[i].taken = true
	return d[i].hash, true
}
