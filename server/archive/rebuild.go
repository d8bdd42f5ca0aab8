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
		var l listing
		l, err = c.list(ctx, true)
		files = l.files
	}
	return files, err
}

// refresh is rebuild, but reads only the descriptions that the index does not have.
func (c *catalog) refresh(ctx context.Context) (listing, error) { return c.list(ctx, false) }

// sift returns those of some objects that are to be in the index: all that are not deleted, or those that it does not have yet. It also
// returns the names of deleted files that have come back.
func (c *catalog) sift(objects []Object, all bool) (wanted []Object, back []string, err error) {
	wanted = objects
	err = c.index.view(func(tx *bolt.Tx) error {
		wanted = nil
		for _, o := range objects {
			_, m, err := loadMatch(tx, o.Name)
			if err != nil {
				return err
			}
			switch f := m.file(o.Name); {
			case f.State == deleting && f.Erased > 0:
				back = append(back, o.Name)
			case f.State != deleting && (all || f.State != stored || f.SizeBytes != o.SizeBytes):
				wanted = append(wanted, o)
			}
		}
		return nil
	})
	return wanted, back, err
}

// A listing is what came of a list of the store.
type listing struct {
	known *nameSet      // the files that it has; nil if it was not listed
	took  time.Duration // to list it
	files int           // that were brought into the index
}

// list lists the store, and brings its files into the index: all of them, or those that it does not have. Its error is also that of an
// index that cannot be written.
func (c *catalog) list(ctx context.Context, all bool) (l listing, err error) {
	began := time.Now()
	var objects, part []Object
	var back []string
	known := &nameSet{maphash.MakeSeed(), make(map[uint64]struct{})}
	sifted := func() error {
		wanted, deleted, err := c.sift(part, all)
		objects, back = append(objects, wanted...), append(back, deleted...)
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
		return sifted()
	}); err != nil {
		return l, err
	}
	if err := sifted(); err != nil {
		return l, err
	}
	l.known, l.took = known, time.Since(began)
	if err := c.comeBack(false, back...); err != nil {
		return l, err
	}
	if l.files, err = c.add(ctx, objects); err != nil {
		return l, err
	}
	c.dropAlone(ctx, alone)
	return l, c.dropUnlisted(ctx, known)
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

// dropAlone deletes descriptions without their files, which a crash can leave, with the subjects of seats.
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

// take brings a file that was stored into the index, unless it is deleted.
func (c *catalog) take(ctx context.Context, o Object) error {
	wanted, back, err := c.sift([]Object{o}, true)
	if err == nil {
		err = c.comeBack(false, back...)
	}
	if err == nil {
		_, err = c.add(ctx, wanted)
	}
	return err
}

// add brings files of the store into the index, and returns their number.
func (c *catalog) add(ctx context.Context, objects []Object) (files int, err error) {
	var batch []*entry
	flush := func() error {
		if len(batch) == 0 { // a full disk would refuse even that
			return nil
		}
		var late []string // of matches that are deleted
		err := c.index.update(func(tx *bolt.Tx) error {
			late = nil
			for _, e := range batch {
				if err := save(tx, e); errors.Is(err, errErased) {
					late = append(late, e.Name)
				} else if err != nil && !errors.Is(err, ErrRefused) {
					return err
				}
			}
			return nil
		})
		files += len(batch)
		batch = batch[:0]
		return cmp.Or(err, c.comeBack(false, late...))
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
