//go:build !js

package archive

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// Delete implements [server.Archive]. When it returns nil, the index has a tombstone of each file, so nobody finds it or gets it, also
// after a crash. It waits a while for keepHouse, which deletes the files: at once, or else as soon as the store can do it. A tombstone
// stays until the file cannot come back: the store may do later what it was asked before, and another server of the index may have
// the file in its folder. A lost index forgets deletions that are not finished.
func (a *Archive) Delete(ctx context.Context, name string) error {
	a.mu.Lock()
	lost := a.lost
	a.mu.Unlock()
	if lost { // the index may lack files that go, too
		if _, err := a.refresh(ctx); err != nil {
			return err
		}
	}
	names, err := a.condemnMatch(name)
	if errors.Is(err, server.ErrArchived) && !errors.Is(err, errErased) {
		names, err = a.condemnUnknown(ctx, name)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, userTime)
	defer cancel()
	if a.awaitErased(ctx, names); ctx.Err() != nil {
		a.log.Warn("archive, to be deleted later", "name", name, "err", ctx.Err())
	}
	return nil
}

// condemnMatch is condemn with the files that wait here. The one that is on its way is stopped.
func (a *Archive) condemnMatch(name string) (names []string, err error) {
	a.mu.Lock()
	paths := a.queue.of(name)
	a.mu.Unlock()
	waits := make(map[string]waiter)
	for n, path := range paths {
		if e := describeWaiting(path); e != nil {
			waits[n] = waiter{path, e}
		}
	}
	if names, err = a.condemn(name, waits); err != nil {
		return nil, err
	}
	for _, path := range a.drop(names, waits) {
		removeLocal(path) // or else erase does it
	}
	return names, nil
}

// drop takes files out of the queue, and returns the paths of those that are not on their way.
func (a *Archive) drop(names []string, waits map[string]waiter) (left []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range names {
		if w, ok := waits[n]; !ok {
			continue
		} else if a.queue.drop(n) {
			a.stopMove()
		} else {
			left = append(left, w.path)
		}
	}
	a.idle.Broadcast()
	return left
}

// describeWaiting describes a file that is to be deleted, if need be by its name alone. It returns nil for the log of a match that is
// not over.
func describeWaiting(path string) *entry {
	e, _, err := describeFile(path)
	if err != nil && !errors.Is(err, errNotOver) {
		return describeName(path)
	}
	return e
}

// condemnUnknown is condemnMatch for a file that another server has stored, and that the index does not have yet.
func (a *Archive) condemnUnknown(ctx context.Context, name string) ([]string, error) {
	e, err := a.ask(ctx, name)
	if err == nil {
		err = a.save(e)
	}
	if err == nil {
		_, err = a.refresh(ctx) // it may have bundles
	}
	if err != nil {
		return nil, err
	}
	return a.condemnMatch(name)
}

// awaitErased waits until none of these files is on its way, and keepHouse has seen to their tombstones, or until ctx ends.
func (a *Archive) awaitErased(ctx context.Context, names []string) {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.idle.Broadcast()
	})()
	a.mu.Lock()
	defer a.mu.Unlock()
	for slices.Contains(names, a.queue.moving) && ctx.Err() == nil {
		a.idle.Wait()
	}
	wake(a.changed)
	for whole := a.passes + a.passes%2 + 2; a.cancel != nil && a.passes < whole && ctx.Err() == nil; {
		a.idle.Wait()
	}
}

// eraseAll erases the files with tombstones, but the one that is on its way to the store.
func (a *Archive) eraseAll(ctx context.Context) error {
	all, err := a.tombs(time.Now())
	if err != nil {
		return err
	}
	return a.erase(ctx, all, func(name string) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.queue.moving == name
	})
}

// makeRoom deletes a match whose tombstones cannot be written, the replay last. What goes makes room for them.
func (a *Archive) makeRoom(ctx context.Context, name string) error {
	var names []string
	if err := a.index.view(func(tx *bolt.Tx) error {
		_, m, err := loadMatch(tx, name)
		if names = m.with(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
		return err
	}); err != nil {
		return err
	}
	for _, n := range names {
		if err := a.delete(ctx, n); err != nil {
			return err
		}
	}
	_, err := a.condemnMatch(name)
	return err
}

// isFull reports whether a disk was full. The database keeps only the words of some errors.
func isFull(err error) bool {
	if err == nil {
		return false
	}
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}
