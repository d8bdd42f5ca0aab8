//go:build !js

package archive

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// rebuildBatch is the number of entries that are written together.
const rebuildBatch = 500

// Index makes an index agree with a store, without an [Archive], and returns the number of files. A server may use both
// meanwhile.
func Index(ctx context.Context, store Store, path string, log *slog.Logger) (files int, err error) {
	c := catalog{store: store, index: index{path: path}, log: log}
	return c.rebuild(ctx)
}

// rebuild makes the index agree with the store, and returns the number of files. It reads the description of each file,
// and the file itself only if that is missing. Searches during it find what is there already. Entries of files that wait
// for the store stay.
func (c *catalog) rebuild(ctx context.Context) (files int, err error) {
	err = c.index.update(func(*bolt.Tx) error { return nil }) // there is an index, also of nothing
	if err == nil {
		files, _, err = c.list(ctx, func(objects []Object) ([]Object, error) { return objects, nil })
	}
	return files, err
}

// refresh is rebuild, but reads only the descriptions that the index does not have. It returns how long the list took.
func (c *catalog) refresh(ctx context.Context) (listing time.Duration, err error) {
	_, listing, err = c.list(ctx, c.missing)
	return listing, err
}

// missing returns those of some objects that the index does not have.
func (c *catalog) missing(objects []Object) (missing []Object, err error) {
	missing = objects
	err = c.index.view(func(tx *bolt.Tx) error {
		missing = nil
		for _, o := range objects {
			e, err := load(tx, o.Name)
			if err != nil {
				return err
			}
			_, m, err := loadMatch(tx, o.Name)
			if err != nil {
				return err
			}
			if !m.deletes(o.Name) && (e == nil || !e.Stored || e.SizeBytes != o.SizeBytes) {
				missing = append(missing, o)
			}
		}
		return nil
	})
	return missing, err
}

// list lists the store, and brings those files into the index that choose returns, which gets all of them in parts.
func (c *catalog) list(ctx context.Context, choose func([]Object) ([]Object, error)) (files int, listing time.Duration, err error) {
	began := time.Now()
	var objects, part []Object
	known := nameSet{maphash.MakeSeed(), make(map[uint64]struct{})}
	chosen := func() error {
		some, err := choose(part)
		objects = append(objects, some...)
		part = part[:0]
		return err
	}
	alone := make(map[string]time.Time) // descriptions whose files are not listed yet, and their times
	if err := c.listPatiently(ctx, func(o Object) error {
		if kindOf(o.Name) == "" {
			if of, ok := strings.CutSuffix(o.Name, ".json"); ok && kindOf(of) != "" && !known.has(of) {
				alone[o.Name] = o.Written
			}
			return nil
		}
		delete(alone, descriptionName(o.Name))
		known.add(o.Name)
		if part = append(part, o); len(part) < rebuildBatch {
			return nil
		}
		return chosen()
	}); err != nil {
		return 0, 0, err
	}
	if err := chosen(); err != nil {
		return 0, 0, err
	}
	listing = time.Since(began)
	if files, err = c.add(ctx, objects); err != nil {
		return files, listing, err
	}
	c.dropAlone(ctx, alone)
	return files, listing, c.dropUnlisted(ctx, &known)
}

// listPatiently lists the store. A store that answers nothing for a while is away.
func (c *catalog) listPatiently(ctx context.Context, f func(Object) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(askTime, func() { cancel(context.DeadlineExceeded) })
	defer silent.Stop()
	err := c.store.List(ctx, func(o Object) error {
		silent.Reset(askTime)
		return f(o)
	})
	return cmp.Or(context.Cause(ctx), err)
}

// aloneAge is the age at which a description without its file is of no file that is on its way.
const aloneAge = 24 * time.Hour

// dropAlone deletes descriptions without their files: older builds have left some, with the subjects of seats.
func (c *catalog) dropAlone(ctx context.Context, alone map[string]time.Time) {
	for name, written := range alone { // the order does not matter
		if of := strings.TrimSuffix(name, ".json"); time.Since(written) > aloneAge && !c.waits(of) {
			c.dropDescription(ctx, of)
		}
	}
}

// dropDescription deletes the description of a file, if it is one. After an error the next list tries it again.
func (c *catalog) dropDescription(ctx context.Context, of string) {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	if _, err := readDescription(ctx, c.store, of); err != nil {
		return // it is somebody else's, or the store is away
	}
	if err := c.store.Delete(ctx, descriptionName(of)); err != nil {
		c.log.Warn("archive", "name", descriptionName(of), "err", err)
	}
}

// A nameSet has the hashes of names, a few bytes for each. It may say that it has one that it has not.
type nameSet struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func (s *nameSet) add(name string) { s.hashes[maphash.String(s.seed, name)] = struct{}{} }

func (s *nameSet) has(name string) bool {
	_, ok := s.hashes[maphash.String(s.seed, name)]
	return ok
}

// add brings files of the store into the index, and returns their number.
func (c *catalog) add(ctx context.Context, objects []Object) (files int, err error) {
	var batch []*entry
	flush := func() error {
		if len(batch) == 0 { // a full disk would refuse even that
			return nil
		}
		err := c.index.update(func(tx *bolt.Tx) error {
			for _, e := range batch {
				if err := save(tx, e); err != nil && !errors.Is(err, errErased) {
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
		e, err := describeStored(ctx, c.store, o)
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
	return files, flush()
}

// dropUnlisted removes the entries of files that the store does not have.
func (c *catalog) dropUnlisted(ctx context.Context, known *nameSet) error {
	var suspects []string
	err := c.index.view(func(tx *bolt.Tx) error {
		return tx.Bucket(byName).ForEach(func(key, _ []byte) error {
			if !known.has(string(key)) {
				suspects = append(suspects, string(key))
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, name := range suspects {
		if c.waits(name) {
			continue
		}
		there, err := c.has(ctx, name) // it may be newer than the list
		if err != nil {
			return err
		}
		if !there {
			if err := c.forget(name); err != nil {
				return err
			}
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
	var failed []error
	for _, e := range open {
		size, err := c.size(ctx, e.Name)
		if err == nil && size == e.SizeBytes { // otherwise it waits, here or at another server
			e.Stored = true
			if err = c.save(e); errors.Is(err, errErased) {
				err = nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
