//go:build !js

package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// A catalog is a store with its index.
type catalog struct {
	store Store
	index index
	log   *slog.Logger
}

// get returns the entry of a name. Its error is [server.ErrArchived] if there is none, and wraps it if the file is deleted.
func (c *catalog) get(name string) (e *entry, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		if e, err = load(tx, name); err != nil || e != nil {
			return err
		}
		_, m, err := loadMatch(tx, name)
		if err == nil && m.deletes(name) {
			return fmt.Errorf("%w: %w", server.ErrArchived, errErased)
		}
		return err
	})
	if err == nil && e == nil {
		err = server.ErrArchived
	}
	return e, err
}

// ask returns the entry of a file that the index does not have yet, because another server has stored it. Its error is
// [server.ErrArchived] if the store has no such file.
func (c *catalog) ask(ctx context.Context, name string) (*entry, error) {
	if kindOf(name) == "" {
		return nil, server.ErrArchived
	}
	ctx, cancel := context.WithTimeout(ctx, userTime)
	defer cancel()
	e, err := readDescription(ctx, c.store, name)
	if err == nil { // a description alone is of a file that is on its way, or was deleted
		_, err = c.size(ctx, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = server.ErrArchived
	}
	return e, err
}

// size returns the size of a file in the store.
func (c *catalog) size(ctx context.Context, name string) (int64, error) {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	f, err := c.store.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}

// has reports whether the store has a file.
func (c *catalog) has(ctx context.Context, name string) (bool, error) {
	_, err := c.size(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// write writes the description of a file into the store, and looks whether it is there.
func (c *catalog) write(ctx context.Context, e *entry) error {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	if err := writeDescription(ctx, c.store, e); err != nil {
		return err
	}
	var got *entry
	err := soon(ctx, func() (err error) {
		got, err = readDescription(ctx, c.store, e.Name)
		return err
	})
	if err == nil && got.SizeBytes != e.SizeBytes || errors.Is(err, fs.ErrNotExist) {
		err = errors.New("archive: the store has another description, or none, though it said so")
	}
	return err
}

// put puts a file into the store, and looks whether it is there.
func (c *catalog) put(ctx context.Context, e *entry, path string) error {
	up, cancel := within(ctx, e.SizeBytes)
	defer cancel()
	if err := c.store.Put(up, e.Name, path); err != nil {
		return err
	}
	var got int64
	err := soon(ctx, func() (err error) {
		got, err = c.size(ctx, e.Name)
		return err
	})
	if err == nil && got != e.SizeBytes {
		err = fmt.Errorf("archive: the store has %d bytes, want %d", got, e.SizeBytes)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("archive: the store has nothing, though it said so")
	}
	return err
}

// delete deletes a file and its description from the store, and looks whether they are gone.
func (c *catalog) delete(ctx context.Context, name string) error {
	for _, n := range []string{name, descriptionName(name)} { // a file without a description would get a new one
		one, cancel := within(ctx, 0)
		err := c.store.Delete(one, n)
		cancel()
		if err != nil {
			return err
		}
		left, err := c.has(ctx, n)
		if err == nil && left {
			err = fmt.Errorf("archive: the store still has %s, though it said that it is deleted", n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// save brings an entry into the index.
func (c *catalog) save(e *entry) error {
	return c.index.update(func(tx *bolt.Tx) error { return save(tx, e) })
}

// forget removes the entry of a file that waited, and is neither in a folder nor in the store.
func (c *catalog) forget(name string) error {
	return c.index.update(func(tx *bolt.Tx) error { return remove(tx, name) })
}

// waits reports whether a file waits at a server, this one or another one.
func (c *catalog) waits(name string) bool {
	e, err := c.get(name)
	return err == nil && !e.Stored
}

// isGone reports whether there is nothing at a path.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// removeLocal removes a file that waited in a server's folder, with the subjects of its seats.
func removeLocal(path string) error {
	for _, p := range []string{path, ownersPath(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// rebuildBatch is the number of entries that are written together.
const rebuildBatch = 500

// Index makes an index agree with a store, without an [Archive], and returns the number of files. A server may use both
// meanwhile.
func Index(ctx context.Context, store Store, path string, log *slog.Logger) (files int, err error) {
	c := catalog{store: store, index: index{path: path}, log: log}
	return c.Rebuild(ctx)
}

// Rebuild makes the index agree with the store, and returns the number of files. It reads the description of each file,
// and the file itself only if that is missing. Searches during it find what is there already. Entries of files that wait
// for the store stay.
func (c *catalog) Rebuild(ctx context.Context) (files int, err error) {
	err = c.index.update(func(*bolt.Tx) error { return nil }) // there is an index, also of nothing
	if err == nil {
		var l listing
		l, err = c.list(ctx, true)
		files = l.files
	}
	return files, err
}

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
		l, err := f.list(ctx, false)
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
		_, err = f.list(ctx, false)
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
