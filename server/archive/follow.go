//go:build !js

package archive

import (
	"context"
	"errors"
	"time"
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
	journal Journal       // nil if the store has none
	mark    string        // of the journal; what was before is in the index; "" before the first list
	listing time.Duration // how long the last list of the store took

	cleaner Cleaner   // nil if the store is none
	clean   time.Time // when to call it

	every time.Duration // Options.Follow
	pause pause
}

// run looks again and again, until ctx ends.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.look(ctx)
		if err == nil && f.cleaner != nil && !time.Now().Before(f.clean) {
			f.tidy(ctx)
		}
		next := f.every
		switch {
		case err != nil:
			next = f.pause.next()
			if ctx.Err() == nil {
				f.log.Warn("archive, following others", "err", err, "again_in", next.Round(time.Millisecond))
			}
		case next == 0 && f.journal != nil:
			next = followJournal
		case next == 0:
			next = max(followList, followShare*f.listing)
		}
		if err == nil {
			f.pause.reset()
		}
		sleep(ctx, next, nil)
	}
}

// look looks once.
func (f *follower) look(ctx context.Context) error {
	if f.journal == nil {
		l, err := f.refresh(ctx)
		f.listing = l.took
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
		_, err = f.refresh(ctx)
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

// apply brings a change into the index.
func (f *follower) apply(ctx context.Context, c Change) error {
	var err error
	switch {
	case kindOf(c.Name) == "": // a description, or not of an archive
	case !c.Deleted:
		err = f.take(ctx, c.Object)
	case !f.waits(c.Name):
		err = f.forget(c.Name)
	}
	if err == nil {
		f.mark = c.Mark
	}
	return err
}
