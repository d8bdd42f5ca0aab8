//go:build !js

package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// A waiter is a file that waits in a folder.
type waiter struct {
	path string
	*entry
}

// condemn deletes a file, or a match with its replay, for everybody who asks the index: it puts tombstones in place of the entries,
// in one step. It takes those of the files that wait, by name, which are of this match, removes the others from the map, and returns
// the names of what it has taken. Its error is [server.ErrArchived] if there is nothing, and wraps errErased, too, if it is deleted already.
func (c *catalog) condemn(name string, waits map[string]waiter) (names []string, err error) {
	known := len(waits) > 0
	if err := c.index.view(func(tx *bolt.Tx) error {
		_, m, err := loadMatch(tx, name)
		known = known || m.Files[name] != nil
		return err
	}); err != nil || !known { // an index is not opened for writing for nothing: a damaged one can end the program then
		return nil, cmp.Or(err, server.ErrArchived)
	}
	err = c.index.update(func(tx *bolt.Tx) error {
		paths, err := saveWaiting(tx, waits)
		if err != nil {
			return err
		}
		key, m, err := loadMatch(tx, name)
		switch {
		case err != nil:
			return err
		case m.deletes(name):
			return fmt.Errorf("%w: %w", server.ErrArchived, errErased)
		case m.Files[name] == nil: // the replay may wait at another server, which has stored its bundles
			return server.ErrArchived
		}
		names = m.erase(name, paths, time.Now())
		for _, n := range names {
			if err := errors.Join(removeEntry(tx, n), tx.Bucket(byTomb).Put([]byte(n), nil)); err != nil {
				return err
			}
		}
		return saveMatch(tx, key, m)
	})
	return names, err
}

// saveWaiting adds files that wait to their matches, and returns their paths. It removes those from the map that are deleted, or
// have the name of a file of another match.
func saveWaiting(tx *bolt.Tx, waits map[string]waiter) (paths map[string]string, err error) {
	paths = make(map[string]string)
	for name, w := range waits { // the order does not matter
		before, err := load(tx, name)
		if err == nil && before == nil {
			err = save(tx, w.entry)
		} else if err == nil && !agrees(before.ID, w.ID) {
			err = ErrRefused
		}
		switch {
		case errors.Is(err, errErased), errors.Is(err, ErrRefused):
			delete(waits, name)
		case err != nil:
			return nil, err
		default:
			paths[name] = w.path
		}
	}
	return paths, nil
}

// A tomb is a file that is to be deleted.
type tomb struct {
	name, path string
	again      bool
}

// tombs returns the files that are to be deleted now.
func (c *catalog) tombs(now time.Time) (all []tomb, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		return tx.Bucket(byTomb).ForEach(func(name, _ []byte) error {
			_, m, err := loadMatch(tx, string(name))
			if f := m.file(string(name)); err == nil && f.due(now.Unix()) {
				all = append(all, tomb{string(name), f.Path, f.Erased > 0})
			}
			return err
		})
	})
	return all, err
}

// erase deletes files from the folders and the store, and then their tombstones if they cannot come back. It leaves those that are
// busy. One that fails does not hold up the others.
func (c *catalog) erase(ctx context.Context, all []tomb, busy func(name string) bool) error {
	var failed []error
	for _, t := range all {
		if busy(t.name) || ctx.Err() != nil {
			continue
		}
		if err := c.eraseOne(ctx, t); err != nil {
			if failed = append(failed, fmt.Errorf("delete %s: %w", t.name, err)); len(failed) > 3 {
				failed = slices.Delete(failed, 3, 4) // one store has one reason
			}
		}
	}
	return errors.Join(failed...)
}

func (c *catalog) eraseOne(ctx context.Context, t tomb) error {
	began := time.Now()
	due := false
	if err := c.index.view(func(tx *bolt.Tx) error { // another process may have done it
		_, m, err := loadMatch(tx, t.name)
		due = m.file(t.name).due(began.Unix())
		return err
	}); err != nil || !due {
		return err
	}
	var err error
	if t.path != "" { // first, because the store may be away
		err = removeLocal(t.path)
	}
	if err = errors.Join(err, c.delete(ctx, t.name)); err != nil {
		return err
	}
	if err := c.index.update(func(tx *bolt.Tx) error {
		key, m, err := loadMatch(tx, t.name)
		if err != nil {
			return err
		}
		for _, n := range m.erased(t.name, began.Unix()) {
			if err := tx.Bucket(byTomb).Delete([]byte(n)); err != nil {
				return err
			}
		}
		return saveMatch(tx, key, m)
	}); err != nil {
		return err
	}
	if !t.again {
		c.log.Info("archive deleted", "name", t.name)
	}
	return nil
}

// comeBack notes that deleted files were seen again, or that their server has removed them from its folder. They are deleted again.
func (c *catalog) comeBack(removed bool, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	return c.index.update(func(tx *bolt.Tx) error {
		for _, name := range names {
			key, m, err := loadMatch(tx, name)
			if err != nil {
				return err
			}
			if !m.deletes(name) { // not any more
				continue
			}
			m.comeBack(name, removed, time.Now())
			if err := errors.Join(saveMatch(tx, key, m), tx.Bucket(byTomb).Put([]byte(name), nil)); err != nil {
				return err
			}
		}
		return nil
	})
}
