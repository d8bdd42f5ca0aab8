package main

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The dissents of a match are the checksums of players that differ from the
// agreed ones. Live, they stand ticks behind these, so they are read ahead.
type dissents map[dissentKey]uint64

// A dissentKey names what a player reported of a tick.
type dissentKey struct {
	tick   lockstep.Tick
	player lockstep.Player
}

// maxDissents is how many dissents are kept.
const maxDissents = 1 << 20

// readDissents returns the dissents of a replay that stands at its beginning,
// and leaves it there.
func readDissents(r *replay.Reader) (dissents, error) {
	all := make(dissents)
	if err := replay.Play(r, nil, all.add); err != nil {
		return nil, err
	}
	_, err := r.Seek(0)
	return all, err
}

// add takes a record.
func (d dissents) add(r *lockstep.Record) error {
	if r.Kind != lockstep.RecordDissent {
		return nil
	}
	if d[dissentKey{r.Tick, r.Player}] = r.Root; len(d) > maxDissents {
		return fmt.Errorf("%w: more than %d checksums that differ", replay.ErrLimit, maxDissents)
	}
	return nil
}

// take returns what a player reported of a tick if it differs, and was not taken
// yet.
func (d dissents) take(t lockstep.Tick, p lockstep.Player) (root uint64, ok bool) {
	key := dissentKey{t, p}
	root, ok = d[key]
	delete(d, key)
	return root, ok
}
