//go:build !js

package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Across is a Folder on another file system than the files that come into it.
type Across struct{ *Folder }

func (a Across) Put(ctx context.Context, name, path string) error {
	return a.put(ctx, name, path, func(string, string) error { return syscall.EXDEV })
}

// Retain deletes what is not to be kept at a time, besides what the archive does by itself.
func (a *Archive) Retain(ctx context.Context, now time.Time) error {
	_, err := a.retainNow(ctx, now)
	return errors.Join(err, a.eraseAll(ctx))
}

// Tidy is Retain for an archive of Open. It also does what is to be done after a start.
func (a *Archive) Tidy(ctx context.Context, now time.Time) error {
	a.rest = time.Time{}
	_, err := a.tidy(ctx, now)
	return err
}

// Open makes an archive that does nothing by itself, and whose index is not synced.
func Open(o Options) (*Archive, error) {
	a, err := open(o)
	if err == nil {
		a.index.adjust = func(o *bolt.Options) { o.NoSync = true }
	}
	return a, err
}

// Fill makes the disk with the index full as long as a function says so.
func (a *Archive) Fill(full func() bool) {
	a.index.adjust = func(o *bolt.Options) {
		o.OpenFile = func(path string, flag int, mode os.FileMode) (*os.File, error) {
			if flag&os.O_RDWR != 0 && full() {
				return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOSPC}
			}
			return os.OpenFile(path, flag, mode)
		}
	}
}

// Refresh makes the index agree with the store, as following others does.
func (a *Archive) Refresh(ctx context.Context) error {
	_, err := a.list(ctx, false)
	return err
}

// MoveNext moves one file that waits.
func (a *Archive) MoveNext(ctx context.Context) error {
	_, err := a.step(ctx, a.queue.next, a.move)
	return err
}

// RetryRefused lets refused files wait again.
func (a *Archive) RetryRefused() { a.retryRefused(time.Now().Add(1000 * time.Hour)) }

// A Stored is a file for Surplus.
type Stored struct {
	Name, ID  string
	Ended     time.Time
	SizeBytes int64
}

// errRollback ends a change of an index that is not to be kept.
var errRollback = errors.New("roll back")

// Surplus returns the names of the files that are not to be kept, if the index of an archive had these.
func (a *Archive) Surplus(k Keep, files []Stored, now time.Time) map[string]bool {
	gone := make(map[string]bool)
	if err := a.index.update(func(tx *bolt.Tx) error {
		for _, f := range files {
			e := describeName(f.Name)
			if e.SizeBytes, e.Ended, e.Stored = f.SizeBytes, f.Ended, true; f.ID != "" {
				e.ID = f.ID
			}
			if err := save(tx, e); err != nil {
				return err
			}
		}
		h := holdings{Tx: tx}
		for _, name := range k.surplus(h, now.Unix()) {
			gone[name] = true
			for _, e := range h.evidence(name) {
				gone[e.name] = true
			}
		}
		return errRollback
	}); !errors.Is(err, errRollback) {
		panic(err) // of a test
	}
	return gone
}

// Tombs returns the names of the files with tombstones.
func (a *Archive) Tombs() map[string]bool {
	names := make(map[string]bool)
	if err := a.index.view(func(tx *bolt.Tx) error {
		return tx.Bucket(byTomb).ForEach(func(name, _ []byte) error {
			names[string(name)] = true
			return nil
		})
	}); err != nil {
		panic(err) // of a test
	}
	return names
}

// ToErase returns the number of files that are to be deleted now.
func (a *Archive) ToErase() int {
	all, err := a.tombs(time.Now())
	if err != nil {
		panic(err) // of a test
	}
	return len(all)
}
