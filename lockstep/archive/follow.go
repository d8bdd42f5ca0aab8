//go:build !js

package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	followJournal = 2 * time.Second
	followList    = time.Minute
	cleanEvery    = 24 * time.Hour
	followShare   = 50 // so listing a large store takes at most 2 % of the time
)

// A follower makes an index agree with a store that others change.
type follower struct {
	*catalog
	waits   func(name string) bool
	journal Journal       // nil if the store has none
	mark    string        // of the journal; what was before is in the index; "" before the first list
	listing time.Duration // how long the last list of the store took

	cleaner Cleaner   // nil if the store is none
	clean   time.Time // when to call it

	every               time.Duration // Options.Follow
	retry, longestRetry time.Duration
}

// run looks again and again, until ctx ends.
func (f *follower) run(ctx context.Context) {
	pause := f.retry
	for ctx.Err() == nil {
		err := f.look(ctx)
		if err == nil && f.cleaner != nil && !time.Now().Before(f.clean) {
			f.tidy(ctx)
		}
		next := f.every
		switch {
		case err != nil:
			next = pause/2 + rand.N(pause/2+1)
			pause = min(2*pause, f.longestRetry)
			if ctx.Err() == nil {
				f.log.Warn("archive, following others", "err", err, "again_in", next.Round(time.Millisecond))
			}
		case next == 0 && f.journal != nil:
			next = followJournal
		case next == 0:
			next = max(followList, followShare*f.listing)
		}
		if err == nil {
			pause = f.retry
		}
		select {
		case <-time.After(next):
		case <-ctx.Done():
		}
	}
}

// look looks once.
func (f *follower) look(ctx context.Context) error {
	if f.journal == nil {
		var err error
		f.listing, err = f.refresh(ctx, f.isOurs)
		return err
	}
	if f.mark != "" {
		err := f.journal.Changes(ctx, f.mark, func(c Change) error { return f.apply(ctx, c) })
		if !errors.Is(err, ErrMark) {
			return err
		}
		f.mark = ""
	}
	mark, err := f.journal.Mark(ctx) // before the list, so that nothing is between them
	if err == nil {
		_, err = f.refresh(ctx, f.isOurs)
	}
	if err == nil {
		f.mark = mark
	}
	return err
}

// tidy cleans the store. An error is tried again the next day.
func (f *follower) tidy(ctx context.Context) {
	f.clean = time.Now().Add(cleanEvery)
	n, err := f.cleaner.Clean(ctx)
	if err != nil && ctx.Err() == nil {
		f.log.Warn("archive, cleaning the store", "err", err)
	} else if n > 0 {
		f.log.Info("archive cleaned", "removed", n)
	}
}

// isOurs reports whether a file is of this server, and not in the store yet.
func (f *follower) isOurs(name string) bool {
	e, err := f.get(name)
	return f.waits(name) || err == nil && !e.Stored
}

// apply brings a change into the index.
func (f *follower) apply(ctx context.Context, c Change) error {
	var err error
	switch {
	case kindOf(c.Name) == "": // a description, or not of an archive
	case !c.Deleted:
		_, err = f.add(ctx, []Object{c.Object})
	case !f.isOurs(c.Name):
		err = f.index.update(func(tx *bolt.Tx) error { return remove(tx, c.Name) })
	}
	if err == nil {
		f.mark = c.Mark
	}
	return err
}
