//go:build !js

package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Keep says what stays in the archive. A zero field sets no limit. The oldest go first. A match takes its bundles and their pages
// with it, but these never evict a match: they have limits of their own.
type Keep struct {
	Age     time.Duration // since the end of the match
	Replays int
	Bytes   int64 // of the replays

	Bundles     int
	BundleBytes int64 // of bundles and pages
}

func (k Keep) check() error {
	if k.Age < 0 || k.Replays < 0 || k.Bytes < 0 || k.Bundles < 0 || k.BundleBytes < 0 {
		return errors.New("archive: got a negative limit of what to keep")
	}
	return nil
}

// A held is a file in the store.
type held struct {
	name      string
	kind      string
	ended     int64 // seconds
	sizeBytes int64
}

// holdings are the files in the store, as retention sees them.
type holdings struct {
	oldest   iter.Seq[held]                   // all, the oldest first
	evidence func(replay string) []held       // of the match of a replay
	replay   func(evidence string) (has bool) // whether a file belongs to a match with a replay
}

// surplus returns the names of what is not to be kept: replays, with which their matches go, and then bundles and pages. Nothing is
// deleted that the limits allow.
func (k Keep) surplus(h holdings, now int64) (names []string) {
	var replays, bundles int
	var bytes, bundleBytes int64
	count := func(f held, by int) {
		switch f.kind {
		case kindReplay:
			replays, bytes = replays+by, bytes+int64(by)*f.sizeBytes
		case kindBundle:
			bundles += by
			fallthrough
		default:
			bundleBytes += int64(by) * f.sizeBytes
		}
	}
	for f := range h.oldest {
		count(f, 1)
	}
	old := func(f held) bool { return k.Age > 0 && now-f.ended > int64(k.Age/time.Second) }
	goes := map[string]bool{}
	take := func(f held) {
		if !goes[f.name] {
			goes[f.name] = true
			count(f, -1)
		}
	}
	for f := range h.oldest {
		if f.kind != kindReplay {
			continue
		}
		if !old(f) && (k.Replays == 0 || replays <= k.Replays) && (k.Bytes == 0 || bytes <= k.Bytes) {
			break
		}
		take(f)
		names = append(names, f.name)
		for _, e := range h.evidence(f.name) {
			take(e)
		}
	}
	for f := range h.oldest {
		tooMany, tooLarge := k.Bundles > 0 && bundles > k.Bundles, k.BundleBytes > 0 && bundleBytes > k.BundleBytes
		if !old(f) && !tooMany && !tooLarge {
			break
		}
		if f.kind == kindReplay || goes[f.name] {
			continue
		}
		unit := h.evidence(f.name) // a bundle goes with its page
		hasBundle := slices.ContainsFunc(unit, func(e held) bool { return e.kind == kindBundle })
		if tooLarge || tooMany && hasBundle || old(f) && !h.replay(f.name) { // evidence grows old with its match
			for _, e := range unit {
				take(e)
				names = append(names, e.name)
			}
		}
	}
	return names
}

// holdingsOf returns what the index says of the store.
func holdingsOf(tx *bolt.Tx) holdings {
	return holdings{
		oldest: func(yield func(held) bool) {
			c := tx.Bucket(byEnd).Cursor()
			for place, v := c.First(); place != nil; place, v = c.Next() {
				if v[8]&isStored != 0 && !yield(heldAt(place, v)) {
					return
				}
			}
		},
		evidence: func(name string) (all []held) {
			_, m, err := loadMatch(tx, name)
			if err != nil {
				return nil // the file alone goes, and the next look at the index finds what is wrong
			}
			for _, n := range m.with(name) {
				all = append(all, held{name: n, kind: kindOf(n), sizeBytes: m.Files[n].SizeBytes})
			}
			return all
		},
		replay: func(name string) bool {
			_, m, err := loadMatch(tx, name)
			return err == nil && m.Files[m.Replay] != nil && m.Replay != name
		},
	}
}

func heldAt(place, v []byte) held {
	name := placeName(place)
	return held{name, kindOf(name), int64(binary.BigEndian.Uint64(place)), int64(binary.BigEndian.Uint64(v))}
}

// surplus returns the names of what is not to be kept, as the index knows it.
func (c *catalog) surplus(k Keep, now time.Time) (names []string, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		names = k.surplus(holdingsOf(tx), now.Unix())
		return nil
	})
	return names, err
}

// retain puts tombstones on what is not to be kept, with condemn. Files that the store does not have yet stay. Before it does so it
// lists the store: what others have removed from it must not cost another file. It returns how long that took.
func (c *catalog) retain(ctx context.Context, k Keep, now time.Time, condemn func(name string) error) (listing time.Duration, err error) {
	names, err := c.surplus(k, now)
	if len(names) == 0 || err != nil {
		return 0, err
	}
	if listing, err = c.refresh(ctx); err != nil {
		return listing, err
	}
	if names, err = c.surplus(k, now); err != nil {
		return listing, err
	}
	for _, name := range names {
		if err := condemn(name); err != nil && !errors.Is(err, server.ErrArchived) { // or it went with another one
			return listing, err
		}
	}
	return listing, nil
}
