//go:build !js

package archive

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	bolt "go.etcd.io/bbolt"
)

// rebuildBatch is the number of entries that are written together.
const rebuildBatch = 500

// Index makes an index agree with a store, without an [Archive], and returns the number of files. A server may use both
// meanwhile.
func Index(ctx context.Context, store Store, path string, log *slog.Logger) (files int, err error) {
	c := catalog{store: store, index: index{path: path}, log: log}
	// An entry that the store does not have may wait at a server.
	return c.rebuild(ctx, func(name string) bool {
		e, err := c.get(name)
		return err == nil && !e.Stored
	})
}

// rebuild makes the index agree with the store, and returns the number of files. It reads the description of each file,
// and the file itself only if that is missing. Searches during it find what is there already. Entries of files that wait
// for the store stay.
func (c *catalog) rebuild(ctx context.Context, waits func(name string) bool) (files int, err error) {
	var objects []Object
	known := make(map[string]bool)
	if err := c.store.List(ctx, func(o Object) error {
		if kindOf(o.Name) != "" {
			objects = append(objects, o)
			known[o.Name] = true
		}
		return nil
	}); err != nil {
		return 0, err
	}
	var batch []*entry
	flush := func() error {
		err := c.index.update(func(tx *bolt.Tx) error {
			for _, e := range batch {
				if err := save(tx, e); err != nil {
					return err
				}
			}
			return nil
		})
		files += len(batch)
		batch = batch[:0]
		return err
	}
	for _, o := range objects {
		e, err := stored(ctx, c.store, o)
		switch {
		case ctx.Err() != nil:
			return files, ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // it was deleted meanwhile
			continue
		case err != nil:
			c.log.Warn("not in the index", "name", o.Name, "err", err)
			continue
		}
		if batch = append(batch, e); len(batch) == rebuildBatch {
			if err := flush(); err != nil {
				return files, err
			}
		}
	}
	if err := flush(); err != nil {
		return files, err
	}
	return files, c.forget(ctx, known, waits)
}

// forget removes the entries of files that the store does not have.
func (c *catalog) forget(ctx context.Context, known map[string]bool, waits func(name string) bool) error {
	var suspects []string
	err := c.index.view(func(tx *bolt.Tx) error {
		return tx.Bucket(byName).ForEach(func(key, _ []byte) error {
			if !known[string(key)] {
				suspects = append(suspects, string(key))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, name := range suspects {
		if waits(name) {
			continue
		}
		f, err := c.store.Open(ctx, name) // it may be newer than the list
		if err == nil {
			f.Close()
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := c.index.update(func(tx *bolt.Tx) error { return remove(tx, name) }); err != nil {
			return err
		}
	}
	return nil
}

// complete finds the files that were stored just before a crash, and notes in the index that they are.
func (c *catalog) complete(ctx context.Context) error {
	var open []*entry
	err := c.index.view(func(tx *bolt.Tx) error {
		at := tx.Bucket(byEnd).Cursor()
		for place, v := at.First(); place != nil; place, v = at.Next() {
			if v[8]&isStored != 0 {
				continue
			}
			e, err := load(tx, placeName(place))
			if err != nil {
				return err
			}
			if e != nil {
				open = append(open, e)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range open {
		f, err := c.store.Open(ctx, e.Name)
		if errors.Is(err, fs.ErrNotExist) { // it waits, here or at another server
			continue
		}
		if err != nil {
			return err
		}
		f.Close()
		e.Stored = true
		if err := c.save(e); err != nil {
			return err
		}
	}
	return nil
}
