//go:build !js

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// bundleOf returns a bundle about a match.
func bundleOf(t *testing.T, id lockstep.MatchID) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := replay.WriteBundle(&b, &lockstep.Header{Match: id}, &host.Evidence{}, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A bundle belongs to the match whose ID is in it. One of another match stays, whatever its name says.
func TestBundleOfAnotherMatch(t *testing.T) {
	for _, first := range []string{"bundle", "replay"} {
		r := newRig(t, nil)
		const name, mine, others = "duel-01020300.ssr", "duel-01020300-desync-7-player1.zip", "duel-01020300-desync-8-player1.zip"
		order := []string{others, name, mine}
		if first == "replay" {
			order = []string{name, others, mine}
		}
		contents := map[string][]byte{name: matchOf(t, "01020300"), mine: bundleOf(t, lockstep.MatchID{1, 2, 3}), others: bundleOf(t, lockstep.MatchID{1, 2, 3, 0, 5})}
		for _, n := range order {
			put(t, r.live, n, contents[n], 0)
			r.settle(t)
		}
		if e, err := r.Get(t.Context(), others); err != nil || e.ID != "01020300050000000000000000000000" {
			t.Errorf("got %+v, %v", e, err)
		}
		if err := r.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		same(t, "left, first the "+first, names(t, r.stored), []string{others, others + ".json"})
		if err := r.Delete(t.Context(), others); err != nil {
			t.Fatal(err)
		}
		same(t, "left at the end", names(t, r.stored), []string{})
	}
}

// A replay does not replace that of another match, whose name and first digits are the same.
func TestSameNameOfAnotherMatch(t *testing.T) {
	r := newRig(t, nil)
	const name = "duel-01020300.ssr"
	put(t, r.live, name, matchOf(t, "01020300"), 0)
	r.settle(t)
	put(t, r.live, name, matchOf(t, "0102030005"), 0)
	r.settle(t)
	f, err := r.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, matchOf(t, "01020300")) || r.Waiting() != 1 {
		t.Errorf("got %d bytes of %v, and %d files wait", len(b), err, r.Waiting())
	}
	same(t, "left", names(t, r.live), []string{name})
}

// A description whose file is gone, as a crash can leave it, is deleted after a day, with the subjects in it.
func TestDescriptionAlone(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	for name, age := range map[string]time.Duration{"old-01020300.ssr.json": 25 * time.Hour, "new-01020300.ssr.json": time.Hour} {
		path, at := filepath.Join(r.stored, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte(`{"name":"`+strings.TrimSuffix(name, ".json")+`"}`), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	foreign, at := filepath.Join(r.stored, "notes.html.json"), time.Now().AddDate(0, 0, -9)
	if err := errors.Join(os.WriteFile(foreign, []byte(`{"a":1}`), 0o600), os.Chtimes(foreign, at, at)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, oldErr := os.Lstat(filepath.Join(r.stored, "old-01020300.ssr.json"))
	_, newErr := os.Lstat(filepath.Join(r.stored, "new-01020300.ssr.json"))
	if oldErr == nil || newErr != nil || len(names(t, r.stored)) != 2*12+2 {
		t.Errorf("the old one: %v, the new one: %v, of %v", oldErr, newErr, names(t, r.stored))
	}
	if _, err := r.Get(t.Context(), "new-01020300.ssr"); !errors.Is(err, server.ErrArchived) {
		t.Errorf("a description alone: got %v, want %v", err, server.ErrArchived)
	}
}

// A hanging store answers nothing.
type hanging struct{ archive.Store }

func (hanging) Put(ctx context.Context, _, _ string) error                   { return hang(ctx) }
func (hanging) Write(ctx context.Context, _ string, _ []byte) error          { return hang(ctx) }
func (hanging) Delete(ctx context.Context, _ string) error                   { return hang(ctx) }
func (hanging) List(ctx context.Context, _ func(archive.Object) error) error { return hang(ctx) }
func (hanging) Open(ctx context.Context, _ string) (io.ReadSeekCloser, error) {
	return nil, hang(ctx)
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A store that hangs counts as one that is away: each part of the archive loses patience, and goes on when the store does.
func TestHangingStore(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	r.Close()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		o := r.o
		o.Store, o.Keep, o.Follow, o.Log = hanging{r.store}, archive.Keep{Replays: 1}, time.Second, slog.New(slog.NewTextHandler(&log, nil))
		a, err := archive.New(o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, r.live, "b-01020300-desync-7-tie.zip", []byte("a bundle"), 0)
		if err := a.Adopt(r.live); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if err := a.Delete(t.Context(), "m9-01020300.ssr"); err != nil {
			t.Errorf("delete: %v", err)
		}
		if _, err := a.Get(t.Context(), "m9-01020300.ssr"); !errors.Is(err, server.ErrArchived) {
			t.Errorf("deleted: got %v", err)
		}
		time.Sleep(10 * time.Minute)
		a.Close()
		for _, part := range []string{`msg=archive name=b-01020300-desync-7-tie.zip err="context deadline exceeded`, "following others", "again_in", "to be deleted later", "delete m9-01020300.ssr"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("no line has %q:\n%s", part, log.String())
			}
		}
	})
	r.start(t) // the store answers again
	r.settle(t)
	eventually(t, "it is not deleted", func() bool { return !strings.Contains(strings.Join(names(t, r.stored), " "), "m9-") })
	same(t, "left", names(t, r.live), []string{})
}

// A late store stores a file although nobody wants it any more.
type late struct{ archive.Store }

func (l late) Put(_ context.Context, name, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return l.Write(context.Background(), name, b)
}

// A match that is deleted while a file of it is on its way stays so, if the store cannot be stopped.
func TestDeleteBeforeLateStore(t *testing.T) {
	live, stored, index := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "index.db")
	folder, err := archive.OpenFolder(stored)
	if err != nil {
		t.Fatal(err)
	}
	put(t, live, "m0-00000001.ssr", matchOf(t, "00000001"), 0)
	synctest.Test(t, func(t *testing.T) {
		a, err := archive.New(archive.Options{Store: late{folder}, Index: index, Log: slog.New(slog.DiscardHandler), Follow: -1})
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
		time.Sleep(time.Hour)
		a.Close()
	})
	same(t, "left in the store", names(t, stored), []string{})
	same(t, "left in the folder", names(t, live), []string{})
}

// A store that only says that it has deleted a file, or stored one, is asked again.
func TestLyingStore(t *testing.T) {
	for call := 1; call <= 12; call++ {
		live, store := t.TempDir(), &faulty{Store: newMemory(), refused: map[string]bool{}}
		a, err := archive.Open(archive.Options{Store: store, Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		put(t, live, "m0-00000001-desync-7-tie.zip", []byte("a bundle"), 0)
		if err := a.Adopt(live); err != nil {
			t.Fatal(err)
		}
		store.fault, store.at = lies, call
		synctest.Test(t, func(t *testing.T) {
			for range 3 {
				a.MoveNext(t.Context())
			}
			if got, err := a.Get(t.Context(), "m0-00000001-desync-7-tie.zip"); err != nil || !got.Stored || len(names(t, live)) > 0 {
				t.Errorf("call %d: got %+v, %v, and %v is left", call, got, err, names(t, live))
			}
			if err := a.Delete(t.Context(), "m0-00000001-desync-7-tie.zip"); err != nil {
				t.Errorf("call %d: %v", call, err)
			}
			if err := errors.Join(a.Tidy(t.Context(), time.Now()), a.Tidy(t.Context(), time.Now())); err != nil && !strings.Contains(err.Error(), "though it said") {
				t.Errorf("call %d: %v", call, err)
			}
		})
		if left := store.Store.(*memory).content; len(left) > 0 {
			t.Errorf("call %d: %v is left", call, left)
		}
	}
}
