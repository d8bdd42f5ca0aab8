//go:build !js

package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// other returns an archive with the same store and an index of its own.
func (r *rig) other(t *testing.T, change func(*archive.Options)) *rig {
	t.Helper()
	o := &rig{live: t.TempDir(), stored: r.stored, store: r.store, o: r.o}
	o.o.Index = filepath.Join(t.TempDir(), "index.db")
	if change != nil {
		change(&o.o)
	}
	o.start(t)
	return o
}

// await waits until a query finds these names.
func (r *rig) await(t *testing.T, what string, want ...string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !slices.Equal(r.find(t, server.ArchiveQuery{}), want) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: found %v, want %v", what, r.find(t, server.ArchiveQuery{}), want)
		}
		time.Sleep(time.Millisecond)
	}
}

// Archives with a store in common find what the others store, and forget what they delete.
func TestOthers(t *testing.T) {
	for _, journal := range []bool{false, true} {
		t.Run(fmt.Sprint("journal=", journal), func(t *testing.T) {
			often := func(o *archive.Options) { o.Follow = time.Millisecond }
			one := newRig(t, func(o *archive.Options) {
				if often(o); journal {
					o.Store = &journaled{Store: o.Store}
				}
			})
			put(t, one.live, "m0-01020300.ssr", sample(t, "v1-sealed"), 0)
			one.settle(t)
			two := one.other(t, nil)
			two.await(t, "stored before the start", replays(0)...)
			for i, r := range []*rig{two, one} {
				put(t, r.live, replays(i + 1)[0], sample(t, "v1-sealed"), i+1)
				r.settle(t)
			}
			one.await(t, "stored meanwhile", replays(2, 1, 0)...)
			two.await(t, "stored meanwhile", replays(2, 1, 0)...)
			if err := one.Delete(t.Context(), "m1-01020300.ssr"); err != nil {
				t.Fatal(err)
			}
			two.await(t, "deleted", replays(2, 0)...)
			if j, ok := one.o.Store.(*journaled); ok {
				if n := j.cleaned.Load(); n != 2 {
					t.Errorf("the store was cleaned %d times, want once by each archive", n)
				}
				j.mu.Lock()
				j.changes = j.changes[:1] // the store was restored from a copy
				j.mu.Unlock()
				if err := j.Store.Delete(t.Context(), "m2-01020300.ssr"); err != nil {
					t.Fatal(err)
				}
				two.await(t, "an unknown mark", replays(0)...)
			}
		})
	}
}

// A replay that is not in the index yet can be read and deleted.
func TestNotYetIndexed(t *testing.T) {
	one := newRig(t, nil)
	two := one.other(t, func(o *archive.Options) { o.Follow = -1 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := two.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, one.live, "m0-01020300.ssr", sample(t, "v1-sealed"), 0)
	one.settle(t)
	want, err := one.Get(t.Context(), "m0-01020300.ssr")
	if err != nil {
		t.Fatal(err)
	}
	got, err := two.Get(t.Context(), "m0-01020300.ssr")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "description", got, want)
	if found := two.find(t, server.ArchiveQuery{}); len(found) > 0 {
		t.Errorf("an archive that follows nobody found %v", found)
	}
	for _, name := range []string{"m1-01020300.ssr", "m0-01020300.ssr.json", "../m0-01020300.ssr"} {
		if _, err := two.Get(t.Context(), name); !errors.Is(err, server.ErrArchived) {
			t.Errorf("%s: got %v, want %v", name, err, server.ErrArchived)
		}
	}
	if err := two.Delete(t.Context(), "m0-01020300.ssr"); err != nil {
		t.Fatal(err)
	}
	same(t, "left", names(t, one.stored), []string{})
}

// A journaled store has a Journal. A change is in the journal a little before the file can be read, as on a copy of the store
// that is behind.
type journaled struct {
	archive.Store
	mu      sync.Mutex
	changes []archive.Change
	behind  map[string]bool
	cleaned atomic.Int32
}

func (j *journaled) Clean(context.Context) (int, error) {
	j.cleaned.Add(1)
	return 1, nil
}

func (j *journaled) note(c archive.Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c.Mark = strconv.Itoa(len(j.changes) + 1)
	j.changes = append(j.changes, c)
}

func (j *journaled) Put(ctx context.Context, name, path string) error {
	err := j.Store.Put(ctx, name, path)
	var size int64
	if err == nil {
		err = j.List(ctx, func(o archive.Object) error {
			if o.Name == name {
				size = o.SizeBytes
			}
			return nil
		})
	}
	j.mu.Lock()
	if j.behind == nil {
		j.behind = map[string]bool{}
	}
	j.behind[name+".json"], j.behind[name] = true, true
	j.mu.Unlock()
	j.note(archive.Change{Object: archive.Object{Name: name, SizeBytes: size, Written: time.Now()}})
	return err
}

func (j *journaled) Delete(ctx context.Context, name string) error {
	err := j.Store.Delete(ctx, name)
	j.note(archive.Change{Object: archive.Object{Name: name}, Deleted: true})
	return err
}

func (j *journaled) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.behind[name] {
		delete(j.behind, name)
		return nil, fs.ErrNotExist
	}
	return j.Store.Open(ctx, name)
}

func (j *journaled) Mark(context.Context) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strconv.Itoa(len(j.changes)), nil
}

func (j *journaled) Changes(_ context.Context, mark string, f func(archive.Change) error) error {
	j.mu.Lock()
	at, err := strconv.Atoi(mark)
	if err != nil || at > len(j.changes) {
		err = archive.ErrMark
		at = len(j.changes)
	}
	changes := slices.Clone(j.changes[at:])
	j.mu.Unlock()
	for _, c := range changes {
		if err := f(c); err != nil {
			return err
		}
	}
	return err
}
