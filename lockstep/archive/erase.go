//go:build !js

package archive

import (
	"context"
	"errors"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Delete implements [server.Archive]. When it returns nil, the index has a tombstone of each file, so nobody finds it or gets it, also
// after a crash. Then the files are deleted: at once, or else as soon as the store can do it.
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
	a.awaitMove(ctx, names)
	err = a.eraseAll(ctx, func(n string) bool { return slices.Contains(names, n) })
	if err != nil || ctx.Err() != nil {
		a.log.Warn("archive, to be deleted later", "name", name, "err", errors.Join(err, ctx.Err()))
		wake(a.changed)
	}
	return nil
}

// condemnMatch is condemn with the files that wait here. The one that is on its way is stopped.
func (a *Archive) condemnMatch(name string) (names []string, err error) {
	a.mu.Lock()
	paths := a.queue.of(name)
	a.mu.Unlock()
	if names, err = a.condemn(name, paths); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range names {
		if a.queue.drop(n) {
			a.stopMove()
		} else if path := paths[n]; path != "" {
			removeLocal(path) // or else erase does it
		}
	}
	a.idle.Broadcast()
	return names, nil
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

// awaitMove waits until none of these files is on its way, or until ctx ends.
func (a *Archive) awaitMove(ctx context.Context, names []string) {
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
}

// eraseAll erases the files with tombstones that a function chooses.
func (a *Archive) eraseAll(ctx context.Context, choose func(name string) bool) error {
	all, err := a.tombs()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t tomb) bool { return !choose(t.name) })
	return a.erase(ctx, all, a.isMoving)
}

// makeRoom deletes a match whose tombstones cannot be written, such as on a full disk, the replay last. What goes makes room for them.
func (a *Archive) makeRoom(ctx context.Context, name string) error {
	var names []string
	if err := a.index.view(func(tx *bolt.Tx) error {
		_, m, err := loadMatch(tx, name)
		names = append(m.with(name), name)
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
