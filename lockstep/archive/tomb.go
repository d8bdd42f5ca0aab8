//go:build !js

package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// condemn deletes a file, or a match with its replay, for everybody who asks the index: it puts tombstones in place of the entries,
// in one step. Files that wait are in folders at these paths. It returns the names of the files. Its error is [server.ErrArchived] if
// there is none, and wraps errErased, too, if it is deleted already.
func (c *catalog) condemn(name string, paths map[string]string) (names []string, err error) {
	check := func(tx *bolt.Tx) (key string, m *match, err error) {
		if key, m, err = loadMatch(tx, name); err != nil {
			return key, m, err
		}
		if m.deletes(name) {
			err = fmt.Errorf("%w: %w", server.ErrArchived, errErased)
		} else if m.Files[name] == nil && paths[name] == "" { // the replay may wait at another server, which has stored its bundles
			err = server.ErrArchived
		}
		return key, m, err
	}
	known := paths[name] != ""
	if err := c.index.view(func(tx *bolt.Tx) error {
		known = true
		_, _, err := check(tx)
		return err
	}); err != nil || !known { // nothing is written for a name that nobody knows
		return nil, cmp.Or(err, server.ErrArchived)
	}
	err = c.index.update(func(tx *bolt.Tx) error {
		key, m, err := check(tx)
		if err != nil {
			return err
		}
		names = m.erase(name, slices.Collect(maps.Keys(paths))...)
		for _, n := range names {
			path := cmp.Or(paths[n], string(tx.Bucket(byTomb).Get([]byte(n)))) // it may have been deleted before, alone
			if err := errors.Join(removeEntry(tx, n), tx.Bucket(byTomb).Put([]byte(n), []byte(path))); err != nil {
				return err
			}
		}
		return saveMatch(tx, key, m)
	})
	return names, err
}

// A tomb is a file that is to be deleted.
type tomb struct{ name, path string }

// tombs returns the files that are to be deleted.
func (c *catalog) tombs() (all []tomb, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		return tx.Bucket(byTomb).ForEach(func(name, path []byte) error {
			all = append(all, tomb{string(name), string(path)})
			return nil
		})
	})
	return all, err
}

// erase deletes files from the store and the folders, and then their tombstones. It leaves those that are busy. One that
// fails does not hold up the others.
func (c *catalog) erase(ctx context.Context, all []tomb, busy func(name string) bool) error {
	var failed []error
	for _, t := range all {
		if busy(t.name) || ctx.Err() != nil {
			continue
		}
		err := c.delete(ctx, t.name)
		if err == nil && t.path != "" {
			err = removeLocal(t.path)
		}
		if err == nil {
			err = c.index.update(func(tx *bolt.Tx) error {
				key, m, err := loadMatch(tx, t.name)
				if err != nil {
					return err
				}
				m.erased(t.name)
				return errors.Join(saveMatch(tx, key, m), tx.Bucket(byTomb).Delete([]byte(t.name)))
			})
		}
		if err != nil {
			if failed = append(failed, fmt.Errorf("delete %s: %w", t.name, err)); len(failed) > 3 {
				failed = slices.Delete(failed, 3, 4) // one store has one reason
			}
			continue
		}
		c.log.Info("archive deleted", "name", t.name)
	}
	return errors.Join(failed...)
}
