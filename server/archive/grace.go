//go:build !js

package archive

import (
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

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

// settle returns the limits. At the first time after a start it takes those of the options.
func (a *Archive) settle(now time.Time) (limits, error) {
	a.mu.Lock()
	known := a.limits
	a.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	l, same := limits{Settled: a.o.Keep, Wanted: a.o.Keep}, false
	err := a.index.view(func(tx *bolt.Tx) (err error) {
		l, same, err = loadLimits(tx, a.o.Keep, now, a.o.Grace)
		return err
	})
	if err == nil && !same {
		err = a.index.update(func(tx *bolt.Tx) error { return saveLimits(tx, l) })
		if isFull(err) { // a restart begins the time again
			a.log.Warn("archive", "err", err)
			err = nil
		}
	}
	if err != nil {
		return limits{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limits = &l
	return l, nil
}

// announceDeletion notes what a lower limit will delete, for searches, and logs it when that is more than before.
func (a *Archive) announceDeletion(l *limits, now time.Time) error {
	var d Deletion
	var names map[string]struct{}
	if l.waits(now) {
		if err := a.index.view(func(tx *bolt.Tx) error {
			d, names = deletion(tx, l, now)
			return nil
		}); err != nil {
			return err
		}
	}
	a.mu.Lock()
	more := d.Files > len(a.doomed)
	a.doomed, a.deletes = names, d.At
	a.mu.Unlock()
	if more {
		a.log.Warn("lower limits of the archive will delete files; larger ones before that time keep them", "files", d.Files, "bytes", d.SizeBytes, "first", d.First, "last", d.Last, "at", d.At)
	}
	return nil
}

// untilDue returns how long a lower limit still waits, or 0.
func (a *Archive) untilDue(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limits == nil || !a.limits.waits(now) {
		return 0
	}
	return a.limits.due().Sub(now)
}
