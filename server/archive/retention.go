//go:build !js

package archive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
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
	*bolt.Tx
	known *nameSet // those that the store has certainly lost are not in it; nil if that is not known
}

// oldest returns all files, the oldest first.
func (h holdings) oldest(yield func(held) bool) {
	c := h.Bucket(byEnd).Cursor()
	for place, v := c.First(); place != nil; place, v = c.Next() {
		name := placeName(place)
		f := held{name, kindOf(name), int64(binary.BigEndian.Uint64(place)), int64(binary.BigEndian.Uint64(v))}
		if v[8] == isStored && (h.known == nil || h.known.has(f.name)) && !yield(f) {
			return
		}
	}
}

// evidence returns what goes with a file: see match.with.
func (h holdings) evidence(name string) (all []held) {
	_, m, err := loadMatch(h.Tx, name)
	if err != nil {
		return nil // the file alone goes, and the next look at the index finds what is wrong
	}
	for _, n := range m.with(name) {
		if h.known == nil || h.known.has(n) {
			all = append(all, held{name: n, kind: kindOf(n), sizeBytes: m.Files[n].SizeBytes})
		}
	}
	return all
}

// hasReplay reports whether evidence belongs to a match with a replay.
func (h holdings) hasReplay(evidence string) bool {
	_, m, err := loadMatch(h.Tx, evidence)
	return err == nil && m.Files[m.Replay] != nil && m.Replay != evidence
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
		if tooLarge || tooMany && hasBundle || old(f) && !h.hasReplay(f.name) { // evidence grows old with its match
			for _, e := range unit {
				take(e)
				names = append(names, e.name)
			}
		}
	}
	return names
}

// surplus returns the names of what is not to be kept, as the index knows it.
func (c *catalog) surplus(k Keep, now time.Time, known *nameSet) (names []string, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		names = k.surplus(holdings{tx, known}, now.Unix())
		return nil
	})
	return names, err
}

// retain puts tombstones on what is not to be kept, with condemn. Files that the store does not have yet stay. Before it does so it
// lists the store: what others have removed from it must not cost another file. It returns how long that took.
func (c *catalog) retain(ctx context.Context, k Keep, now time.Time, condemn func(name string) error) (took time.Duration, err error) {
	names, err := c.surplus(k, now, nil)
	if len(names) == 0 || err != nil {
		return 0, err
	}
	l, err := c.list(ctx, false)
	if err != nil && !(isFull(err) && l.known != nil) { // a full disk does not take what the list says, but it is known
		return l.took, err
	}
	if names, err = c.surplus(k, now, l.known); err != nil {
		return l.took, err
	}
	for _, name := range names {
		if err := condemn(name); err != nil && !errors.Is(err, server.ErrArchived) { // or it went with another one
			return l.took, err
		}
	}
	return l.took, nil
}

// usualGrace is how long lower limits wait.
const usualGrace = time.Hour

// limitsKey is the only key of byLimits.
var limitsKey = []byte("keep")

// limits say what is kept while a lower limit waits. The index has them, so a restart neither forgets nor prolongs the time.
type limits struct {
	Settled Keep  `json:"settled"` // what was in force before the last change
	Wanted  Keep  `json:"wanted"`
	Due     int64 `json:"due"` // the time in seconds from which only Wanted counts
}

// looser returns what both limits allow.
func (k Keep) looser(o Keep) Keep {
	return Keep{
		Age: most(k.Age, o.Age), Replays: most(k.Replays, o.Replays), Bytes: most(k.Bytes, o.Bytes),
		Bundles: most(k.Bundles, o.Bundles), BundleBytes: most(k.BundleBytes, o.BundleBytes),
	}
}

// most returns the larger of two limits, of which 0 is none.
func most[N int | int64 | time.Duration](a, b N) N {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// now returns what is kept at a time.
func (l *limits) now(now time.Time) Keep {
	if l.waits(now) {
		return l.Settled.looser(l.Wanted)
	}
	return l.Wanted
}

// waits reports whether a lower limit waits.
func (l *limits) waits(now time.Time) bool { return now.Unix() < l.Due }

// due returns when it no longer waits.
func (l *limits) due() time.Time { return time.Unix(l.Due, 0).UTC() }

// change takes the limits of a start. Those that allow less than before wait; the same ones wait no longer than they did.
func (l *limits) change(to Keep, now time.Time, grace time.Duration) {
	latest := now.Add(max(grace, 0)).Unix()
	l.Due = min(l.Due, latest) // the clock may have been wrong
	if to == l.Wanted {
		return
	}
	l.Settled = l.now(now)
	if l.Wanted, l.Due = to, latest; l.Settled.looser(to) == to {
		l.Settled, l.Due = to, now.Unix()
	}
}

// loadLimits returns the limits with those of a start, and whether the index has them already. An index without any allowed everything,
// unless it has no file.
func loadLimits(tx *bolt.Tx, to Keep, now time.Time, grace time.Duration) (l limits, same bool, err error) {
	if bucket := tx.Bucket(byLimits); bucket != nil {
		if err := json.Unmarshal(bucket.Get(limitsKey), &l); err != nil {
			return l, false, fmt.Errorf("%w: limits: %w", errIndex, err)
		}
		before := l
		l.change(to, now, grace)
		return l, l == before, nil
	}
	if place, _ := tx.Bucket(byEnd).Cursor().First(); place == nil {
		l = limits{Settled: to, Wanted: to}
	}
	l.change(to, now, grace)
	return l, false, nil
}

func saveLimits(tx *bolt.Tx, l limits) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	bucket, err := tx.CreateBucketIfNotExists(byLimits)
	if err != nil {
		return err
	}
	return bucket.Put(limitsKey, b)
}

// A Deletion says what retention would delete.
type Deletion struct {
	Files     int
	SizeBytes int64
	First     string    // the oldest file
	Last      string    // the latest one
	At        time.Time // from when on
}

// deletion returns what goes by the limits, whatever waits, and its names.
func deletion(tx *bolt.Tx, l *limits, now time.Time) (d Deletion, names map[string]struct{}) {
	names = make(map[string]struct{})
	d.At = now
	if l.waits(now) {
		d.At = l.due()
	}
	h := holdings{Tx: tx}
	goes := make(map[string]bool)
	for _, name := range l.Wanted.surplus(h, d.At.Unix()) {
		goes[name] = true
		for _, e := range h.evidence(name) {
			goes[e.name] = true
		}
	}
	for f := range h.oldest {
		if !goes[f.name] {
			continue
		}
		names[f.name] = struct{}{}
		if d.Files++; d.Files == 1 {
			d.First = f.name
		}
		d.Last, d.SizeBytes = f.name, d.SizeBytes+f.sizeBytes
	}
	return d, names
}

// Preview returns what an [Archive] with an index would delete after a start with some limits. It only reads. Without an index it is
// nothing.
func Preview(path string, k Keep, now time.Time) (d Deletion, err error) {
	if err := k.check(); err != nil {
		return d, err
	}
	x := index{path: path}
	err = x.view(func(tx *bolt.Tx) error {
		l, _, err := loadLimits(tx, k, now, usualGrace)
		if err == nil {
			d, _ = deletion(tx, &l, now)
		}
		return err
	})
	return d, err
}
