//go:build !js

package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// run moves files into the store, deletes what is not to be kept, and makes the index when it is missing.
func (a *Archive) run(ctx context.Context) {
	pause := a.o.Retry
	for {
		err := a.work(ctx)
		if ctx.Err() != nil {
			return
		}
		next := retainEvery
		if err != nil {
			next = pause/2 + rand.N(pause/2+1)
			pause = min(2*pause, a.o.LongestRetry)
			a.log.Warn("archive", "err", err, "waiting", a.Waiting(), "retry_in", next.Round(time.Millisecond))
		} else {
			pause = a.o.Retry
			if !a.renew.IsZero() {
				next = min(next, max(time.Until(a.renew), 0))
			}
		}
		timer := time.NewTimer(next)
		if err != nil { // further files do not make the store come back
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		} else {
			select {
			case <-timer.C:
			case <-a.wake:
			case <-ctx.Done():
			}
		}
		timer.Stop()
	}
}

// work does all work that there is. It stops at the first error of the store or the index.
func (a *Archive) work(ctx context.Context) error {
	if err := a.repairIndex(ctx); err != nil {
		return err
	}
	if !a.renew.IsZero() && time.Now().After(a.renew) {
		again := a.refused
		a.refused, a.renew = nil, time.Time{}
		for _, path := range again {
			a.Add(path)
		}
	}
	for path := a.first(); path != ""; path = a.first() {
		if err := a.move(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.finished(ctx, path)
	}
	return a.retain(ctx, a.o.Keep, time.Now())
}

// repairIndex makes the index if it was lost, and completes what a crash left half done. It works once after a start.
func (a *Archive) repairIndex(ctx context.Context) error {
	a.mu.Lock()
	checked := a.checked
	a.mu.Unlock()
	if checked {
		return nil
	}
	if a.lost {
		n, err := a.Rebuild(ctx)
		if err != nil {
			return err
		}
		a.log.Info("archive index", "files", n)
		a.lost = false
	}
	if err := a.complete(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checked = true
	a.idle.Broadcast()
	return nil
}

// first returns the path that waits longest, or "".
func (a *Archive) first() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 {
		return ""
	}
	a.dropped = false
	return a.waiting[0]
}

// finished removes the first path, and the file if it was deleted meanwhile.
func (a *Archive) finished(ctx context.Context, path string) {
	name := filepath.Base(path)
	a.mu.Lock()
	dropped := a.dropped
	a.waiting = a.waiting[1:]
	delete(a.paths, name)
	a.idle.Broadcast()
	a.mu.Unlock()
	if dropped {
		if err := a.delete(ctx, name); err != nil {
			a.log.Error("archive", "name", name, "err", err)
		}
	}
}

// move moves a file into the store. The order makes every crash harmless: the file leaves its old path last, and
// whatever was done before is done again. It returns only errors after which it makes sense to try again.
func (a *Archive) move(ctx context.Context, path string) error {
	e, err := a.prepare(ctx, path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has moved it
	}
	if err != nil { // the file stays; an operator can see it
		a.log.Warn("not archived", "path", path, "err", err)
		if a.refused = append(a.refused, path); a.renew.IsZero() {
			a.renew = time.Now().Add(12 * a.o.LongestRetry)
		}
		return nil
	}
	if e == nil {
		return nil
	}
	if err := a.save(e); err != nil {
		return err
	}
	e.Stored = true
	if err := writeDescription(ctx, a.store, e); err != nil {
		return err
	}
	if err := a.store.Put(ctx, e.Name, path); err != nil {
		return err
	}
	if err := a.save(e); err != nil {
		return err
	}
	a.log.Info("archived", "name", e.Name, "bytes", e.SizeBytes)
	for _, p := range []string{path, ownersPath(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// prepare describes a file that waits. It seals and signs a replay if that is missing. Without an error it returns nil
// for a replay that is still written.
func (a *Archive) prepare(ctx context.Context, path string) (*entry, error) {
	e, sealed, err := describeFile(path)
	if e == nil || err != nil || e.Kind != kindReplay || a.o.Seal == nil || sealed && e.Signer == a.o.Signer {
		return e, err
	}
	if err := a.o.Seal(ctx, path); err != nil {
		return nil, err
	}
	e, _, err = describeFile(path)
	return e, err
}
