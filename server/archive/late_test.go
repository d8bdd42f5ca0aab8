//go:build !js

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// A landing store answers no Put in time, and stores the file a while after it was cut off.
type landing struct{ archive.Store }

func (l landing) Put(ctx context.Context, name, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	<-ctx.Done()
	go func() {
		time.Sleep(25 * time.Second)
		l.Write(context.Background(), name, b)
	}()
	return ctx.Err()
}

// A deleted match stays so, if the store does later what it was asked before.
func TestDeleteBeforeLatePut(t *testing.T) {
	live, stored, index := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "index.db")
	folder, err := archive.OpenFolder(stored)
	if err != nil {
		t.Fatal(err)
	}
	put(t, live, "m0-00000001.ssr", matchOf(t, "00000001"), 0)
	synctest.Test(t, func(t *testing.T) {
		a, err := archive.New(archive.Options{Store: landing{folder}, Index: index, Log: slog.New(slog.DiscardHandler), Follow: time.Minute})
		if err == nil {
			err = a.Adopt(live)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if err := a.Delete(t.Context(), "m0-00000001.ssr"); err != nil {
			t.Error(err)
		}
		for range 20 {
			time.Sleep(7 * time.Second)
			if e, err := a.Get(t.Context(), "m0-00000001.ssr"); !errors.Is(err, server.ErrArchived) {
				t.Fatalf("deleted: got %+v, %v", e, err)
			}
		}
		time.Sleep(3 * time.Hour)
		if tombs := len(a.Tombs()); tombs > 0 {
			t.Errorf("%d tombstones are left", tombs)
		}
		a.Close()
	})
	same(t, "left in the store", names(t, stored), []string{})
	same(t, "left in the folder", names(t, live), []string{})
}

// A match is deleted at another server than the one where it waits, if they share an index.
func TestDeleteAtAnotherServer(t *testing.T) {
	const name, zip = "m0-00000001.ssr", "m0-00000001-desync-7-tie.zip"
	live, store, index := t.TempDir(), newMemory(), filepath.Join(t.TempDir(), "index.db")
	away := true
	open := func() *archive.Archive {
		s := &stubborn{store, func(string) bool { return away }, errOfStore}
		a, err := archive.Open(archive.Options{Store: s, Index: index, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	there, here := open(), open()
	put(t, live, name, matchOf(t, "00000001"), 0)
	put(t, live, zip, []byte("a bundle"), 0)
	if err := errors.Join(there.Played(filepath.Join(live, name), map[lockstep.Player]string{0: "ada"}), there.Adopt(live)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		there.MoveNext(t.Context())
	}
	synctest.Test(t, func(t *testing.T) {
		if err := here.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1000 * time.Hour) // however long that server is away
		if err := here.Tidy(t.Context(), time.Now()); err != nil {
			t.Error(err)
		}
		away = false
		for range 4 {
			if err := there.MoveNext(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for _, a := range []*archive.Archive{here, there} {
			if e, err := a.Get(t.Context(), name); !errors.Is(err, server.ErrArchived) {
				t.Errorf("deleted: got %+v, %v", e, err)
			}
		}
		for range 2 {
			if err := here.Tidy(t.Context(), time.Now()); err != nil {
				t.Error(err)
			}
			time.Sleep(3 * time.Hour)
		}
		if n := len(here.Tombs()); n > 0 {
			t.Errorf("%d tombstones are left", n)
		}
	})
	same(t, "left in the folder", names(t, live), []string{})
	if len(store.content) > 0 {
		t.Errorf("the store has %v", store.content)
	}
}

// What waits in a folder is deleted there also while the store is away.
func TestDeleteWhileStoreIsAway(t *testing.T) {
	const name = "m0-00000001.ssr"
	live, store := t.TempDir(), &faulty{Store: newMemory(), refused: map[string]bool{}}
	a, err := archive.Open(archive.Options{Store: store, Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Tidy(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	store.away = true
	put(t, live, name, matchOf(t, "00000001"), 0)
	owners := filepath.Join(live, "m0-00000001.owners")
	if err := errors.Join(a.Played(filepath.Join(live, name), map[lockstep.Player]string{0: "ada"}), a.Adopt(live), os.Mkdir(owners+".x", 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(owners, owners+".y"), os.Rename(owners+".x", owners), os.WriteFile(filepath.Join(owners, "x"), nil, 0o600)); err != nil {
		t.Fatal(err) // something that cannot be removed at once
	}
	if err := a.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(owners), os.Rename(owners+".y", owners)); err != nil {
		t.Fatal(err)
	}
	if err := a.Tidy(t.Context(), time.Now()); !errors.Is(err, errOfStore) {
		t.Errorf("got %v, want the error of the store", err)
	}
	same(t, "left in the folder", names(t, live), []string{})
}

// Evidence about a match that is not over waits for its end, so that nobody sees its state and seed.
func TestAdoptLeavesRunningMatches(t *testing.T) {
	const running, broken, over = "duel-01020300", "duel-01020301", "duel-01020302"
	r := newRig(t, nil)
	logs := filepath.Join(r.live, "live")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, logs, running+".ssr", sample(t, "v1-torn"), 0)
	put(t, r.live, broken+".ssr", sample(t, "v1-torn"), 0) // that somebody has put there
	put(t, r.live, over+".ssr", matchOf(t, "01020302"), 0)
	var want []string
	for _, stem := range []string{running, broken, over} {
		for _, ext := range []string{".html", ".zip"} {
			name := stem + "-desync-7-player1" + ext
			put(t, r.live, name, []byte("evidence"), 0)
			if stem != over {
				want = append(want, name)
			}
		}
	}
	r.settle(t)
	want = append(want, broken+".ssr", "live")
	same(t, "left", slices.Sorted(slices.Values(names(t, r.live))), slices.Sorted(slices.Values(want)))
	if err := os.Rename(filepath.Join(logs, running+".ssr"), filepath.Join(r.live, running+".ssr")); err != nil {
		t.Fatal(err)
	}
	put(t, r.live, running+".ssr", matchOf(t, "01020300"), 0)
	r.settle(t)
	if got := strings.Join(names(t, r.live), " "); strings.Contains(got, running) {
		t.Errorf("left after the end: %s", got)
	}
}

// A file that an admin has put into the archive's folder, or into the server's, belongs to no match: it stays and costs nothing.
func TestForeignFiles(t *testing.T) {
	r := newRig(t, nil)
	foreign := []string{"index.html", "backup.zip", "m0-00000001.zip", "a film.mp4.part", ".hidden.part"}
	for _, name := range foreign {
		for _, dir := range []string{r.live, r.stored} {
			put(t, dir, name, bytes.Repeat([]byte("x"), 7000), 0)
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	put(t, r.stored, "m0-00000001.ssr.123.part", nil, 0) // ours, of a server that has died
	for _, name := range append(foreign[3:], "m0-00000001.ssr.123.part") {
		if err := os.Chtimes(filepath.Join(r.stored, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	all := fill(t, r, 2, 1000, 200)
	r.keepNow(t, archive.Keep{BundleBytes: 6000, Bytes: 100000})
	if _, err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "bundles", r.find(t, server.ArchiveQuery{Kind: "bundle"}), []string{"m1-00000002-desync-7-player1.zip", "m0-00000001-desync-7-player1.zip"})
	same(t, "replays", r.find(t, server.ArchiveQuery{}), all)
	for _, name := range foreign {
		for _, dir := range []string{r.live, r.stored} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if err := r.Delete(t.Context(), name); !errors.Is(err, server.ErrArchived) {
			t.Errorf("%s: got %v, want %v", name, err, server.ErrArchived)
		}
	}
	if _, err := os.Lstat(filepath.Join(r.stored, "m0-00000001.ssr.123.part")); err == nil {
		t.Error("an incomplete file of ours stays for ever")
	}
}

// A bundle that has the ID of another match than its name counts, and goes when it is its turn.
func TestPartedBundleGoes(t *testing.T) {
	r := newRig(t, nil)
	put(t, r.live, "duel-01020300.ssr", matchOf(t, "01020300"), 0)
	put(t, r.live, "duel-01020300-desync-8-player1.zip", bundleOf(t, lockstep.MatchID{1, 2, 3, 0, 5}), 0)
	put(t, r.live, "m1-00000002-desync-7-player1.zip", []byte("a bundle"), 1)
	r.settle(t)
	r.keepNow(t, archive.Keep{Bundles: 1})
	same(t, "bundles", r.find(t, server.ArchiveQuery{Kind: "bundle"}), []string{"m1-00000002-desync-7-player1.zip"})
}

// A replay that waits is not deleted with a stored one that has the same name and another ID.
func TestDeleteLeavesSameNameOfAnotherMatch(t *testing.T) {
	r := newRig(t, nil)
	const name = "duel-01020300.ssr"
	put(t, r.live, name, matchOf(t, "01020300"), 0)
	r.settle(t)
	put(t, r.live, name, matchOf(t, "0102030005"), 0)
	r.settle(t)
	if err := r.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	r.RetryRefused()
	put(t, r.live, "wake-00000001.ssr", matchOf(t, "00000001"), 0)
	r.settle(t)
	same(t, "left", names(t, r.live), []string{name})
	if e, err := r.Get(t.Context(), name); !errors.Is(err, server.ErrArchived) {
		t.Errorf("deleted: got %+v, %v", e, err)
	}
}

// A server's own trouble, such as a full disk, refuses no replay: it is tried again after the others.
func TestSealFailsForAWhile(t *testing.T) {
	full := true
	live := t.TempDir()
	a, err := archive.Open(archive.Options{
		Store: newMemory(), Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Signer: "me",
		Seal: func(context.Context, string) error {
			if full {
				return &fs.PathError{Op: "write", Path: "x", Err: errors.New("no room")}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, live, "m0-00000001.ssr", matchOf(t, "00000001"), 0)
	if err := a.Adopt(live); err != nil {
		t.Fatal(err)
	}
	if err := a.MoveNext(t.Context()); err == nil {
		t.Error("got no error of a full disk")
	}
	full = false
	if err := a.MoveNext(t.Context()); err != nil || a.Waiting() > 0 {
		t.Errorf("got %v, and %d files wait", err, a.Waiting())
	}
}
