//go:build !js

package archive_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

// matchOf returns a short replay of the match whose ID begins with eight digits.
func matchOf(t testing.TB, digits string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../testdata/replays/versions/v1-sealed.ssr")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var id lockstep.MatchID
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var e record.Encoder
	w := replay.NewWriter(&out, replay.WriterOptions{})
	err = replay.Play(r, nil, func(rec *record.Record) error {
		if rec.Kind == record.KindHeader {
			h := *rec.Header
			h.Match = id
			return w.Append(e.Header(&h))
		}
		return w.Append(r.Record())
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fill stores replays of n days, each with a bundle and its page of these sizes.
func fill(t *testing.T, r *rig, n, bundle, page int) (want []string) {
	t.Helper()
	for day := range n {
		stem := fmt.Sprintf("m%d-%08x", day, day+1)
		put(t, r.live, stem+".ssr", matchOf(t, fmt.Sprintf("%08x", day+1)), day)
		if bundle > 0 {
			put(t, r.live, stem+"-desync-7-player1.zip", bytes.Repeat([]byte("b"), bundle), day)
			put(t, r.live, stem+"-desync-7-player1.html", bytes.Repeat([]byte("p"), page), day)
		}
		want = append([]string{stem + ".ssr"}, want...)
	}
	r.settle(t)
	return want
}

// keepNow restarts an archive with limits, and applies them.
func (r *rig) keepNow(t *testing.T, k archive.Keep) {
	t.Helper()
	r.Close()
	r.o.Keep = k
	r.start(t)
	if err := r.Retain(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// If one deletion is enough, it stays at one, whatever evidence the matches have.
func TestKeepDeletesNoMoreThanNeeded(t *testing.T) {
	r := newRig(t, nil)
	all := fill(t, r, 4, 9000, 9000)
	r.keepNow(t, archive.Keep{Bytes: 4*int64(len(matchOf(t, "00000001"))) - 1})
	same(t, "kept", r.find(t, server.ArchiveQuery{}), all[:3])
}

// A file that somebody has removed from the store counts no longer.
func TestVanishedFileCostsNothing(t *testing.T) {
	r := newRig(t, nil)
	all := fill(t, r, 4, 0, 0)
	r.Close()
	r.o.Keep = archive.Keep{Replays: 3}
	a, err := archive.Open(r.o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(r.stored, all[0])), a.Retain(t.Context(), time.Now())); err != nil { // the newest one
		t.Fatal(err)
	}
	r.Archive = a
	same(t, "kept", r.find(t, server.ArchiveQuery{}), all[1:])
}

// The evidence of one desync is larger than all replays together, and evicts none.
func TestEvidenceEvictsNoMatch(t *testing.T) {
	r := newRig(t, nil)
	all := fill(t, r, 4, 0, 0)
	put(t, r.live, "m3-00000004-desync-7-player1.zip", bytes.Repeat([]byte("b"), 20000), 3)
	put(t, r.live, "m3-00000004-desync-7-player1.html", bytes.Repeat([]byte("p"), 5000), 3)
	r.settle(t)
	r.keepNow(t, archive.Keep{Bytes: 4 * int64(len(matchOf(t, "00000001")))})
	same(t, "kept", r.find(t, server.ArchiveQuery{}), all)
}

// A stubborn store refuses to store some names.
type stubborn struct {
	archive.Store
	refuses func(name string) bool
	err     error
}

func (s *stubborn) Put(ctx context.Context, name, path string) error {
	if s.refuses(name) {
		return s.err
	}
	return s.Store.Put(ctx, name, path)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// Retention goes on while a file waits that the store does not take.
func TestRetentionDoesNotWait(t *testing.T) {
	r := newRig(t, nil)
	all := fill(t, r, 3, 0, 0)
	r.Close()
	r.o.Store = &stubborn{r.store, func(name string) bool { return strings.HasPrefix(name, "a") }, errors.New("no space left on device")}
	r.o.Keep = archive.Keep{Replays: 3}
	r.start(t)
	put(t, r.live, "a9-00000009.ssr", matchOf(t, "00000009"), 9)
	put(t, r.live, "m4-00000004.ssr", matchOf(t, "00000004"), 4)
	if err := r.Adopt(r.live); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing was deleted", func() bool { return !slices.Contains(names(t, r.stored), all[2]) })
	if !slices.Contains(names(t, r.stored), all[1]) || !slices.Contains(names(t, r.live), "a9-00000009.ssr") {
		t.Errorf("too much is gone: %v, %v", names(t, r.stored), names(t, r.live))
	}
}

// On a full disk, which takes no tombstone either, retention makes room.
func TestFullDiskIsFreed(t *testing.T) {
	r := newRig(t, nil)
	all := fill(t, r, 3, 1000, 1000)
	r.Close()
	r.o.Keep = archive.Keep{Replays: 1}
	a, err := archive.Open(r.o)
	if err != nil {
		t.Fatal(err)
	}
	a.Fill(func() bool { return slices.Contains(names(t, r.stored), all[2]) }) // until the oldest is gone
	if err := a.Retain(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, name := range names(t, r.stored) {
		if !strings.HasSuffix(name, ".json") {
			left = append(left, name)
		}
	}
	same(t, "kept", left, []string{"m2-00000003-desync-7-player1.html", "m2-00000003-desync-7-player1.zip", all[0]})
	if n := a.ToErase(); n > 0 {
		t.Errorf("%d files are to be deleted", n)
	}
}

// One file that the store never takes does not hold up the others.
func TestRefusedFileBlocksNothing(t *testing.T) {
	r := newRig(t, func(o *archive.Options) {
		o.Store = &stubborn{o.Store, func(name string) bool { return strings.HasPrefix(name, "m0") }, errors.New("name not allowed")}
	})
	for day := range 3 {
		stem := fmt.Sprintf("m%d-%08x", day, day+1)
		put(t, r.live, stem+".ssr", matchOf(t, fmt.Sprintf("%08x", day+1)), day)
	}
	if err := r.Adopt(r.live); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the others are not stored", func() bool {
		return slices.Contains(names(t, r.stored), "m1-00000002.ssr") && slices.Contains(names(t, r.stored), "m2-00000003.ssr")
	})
	eventually(t, "other files wait, too", func() bool { return r.Waiting() == 1 })
	same(t, "left", names(t, r.live), []string{"m0-00000001.ssr"})
}

// A slow store stores nothing until it may.
type slow struct {
	archive.Store
	began, may chan struct{}
	once       sync.Once
}

func (s *slow) Put(ctx context.Context, name, path string) error {
	s.once.Do(func() { close(s.began) })
	select {
	case <-s.may:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Store.Put(ctx, name, path)
}

// A match that is deleted while it is stored leaves nothing, and cannot be found meanwhile.
func TestDeleteWhileStoring(t *testing.T) {
	hold := &slow{began: make(chan struct{}), may: make(chan struct{})}
	r := newRig(t, func(o *archive.Options) { hold.Store, o.Store = o.Store, hold })
	const name = "m0-00000001.ssr"
	put(t, r.live, name, matchOf(t, "00000001"), 0)
	put(t, r.live, "m0-00000001-desync-7-player1.zip", []byte("a bundle"), 0)
	if err := errors.Join(r.Played(filepath.Join(r.live, name), map[lockstep.Player]string{0: "ada"}), r.Adopt(r.live)); err != nil {
		t.Fatal(err)
	}
	<-hold.began
	if err := r.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{name, "m0-00000001-desync-7-player1.zip"} {
		if e, err := r.Get(t.Context(), n); !errors.Is(err, server.ErrArchived) {
			t.Errorf("deleted: got %+v, %v", e, err)
		}
	}
	close(hold.may)
	r.settle(t)
	same(t, "left in the store", names(t, r.stored), []string{})
	same(t, "left in the folder", names(t, r.live), []string{})
}

// A match is its whole name and its ID. A name that begins with another match's name, a file name and all, is another match.
func TestNamesThatBeginAlike(t *testing.T) {
	r := newRig(t, nil)
	const other = "cup-01020300-desync-final-0a0b0c0d"
	mine := []string{"cup-01020300-desync-7-player1.html", "cup-01020300-desync-7-player1.zip", "cup-01020300-desync-9-tie.zip", "cup-01020300.ssr"}
	others := []string{other + "-desync-7-player1.zip", other + ".ssr"}
	for _, n := range slices.Concat(mine, others) {
		content := []byte("evidence")
		if strings.HasSuffix(n, ".ssr") {
			content = matchOf(t, n[len(n)-len("01020300.ssr"):len(n)-len(".ssr")])
		}
		put(t, r.live, n, content, 0)
	}
	r.settle(t)
	if got, err := r.Get(t.Context(), others[0]); err != nil || got.Match != "cup-01020300-desync-final" || got.ID != "0a0b0c0d" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := r.Delete(t.Context(), "cup-01020300.ssr"); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, n := range names(t, r.stored) {
		if !strings.HasSuffix(n, ".json") {
			left = append(left, n)
		}
	}
	same(t, "left", left, others)
}

// The next page comes also after the last file of this one was deleted.
func TestPageAfterDeletedFile(t *testing.T) {
	r := newRig(t, nil)
	for i := range server.MaxListed + 2 {
		put(t, r.stored, fmt.Sprintf("m%03d-%08x-desync-7-tie.zip", i, i), []byte("b"), 0)
	}
	if _, err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := server.ArchiveQuery{Kind: "bundle"}
	page, next, err := r.Find(t.Context(), q)
	if err != nil || len(page) != server.MaxListed {
		t.Fatal(len(page), err)
	}
	if err := r.Delete(t.Context(), page[len(page)-1].Name); err != nil {
		t.Fatal(err)
	}
	q.After = next
	same(t, "next page", r.find(t, q), []string{"m001-00000001-desync-7-tie.zip", "m000-00000000-desync-7-tie.zip"})
}

// While the store is away all files that wait are found, not only the first.
func TestWaitingAreFound(t *testing.T) {
	var matches [][]byte // made outside of the bubble, because decoders are shared
	for i := range 4 {
		matches = append(matches, matchOf(t, fmt.Sprintf("%08x", i+1)))
	}
	synctest.Test(t, func(t *testing.T) { waitingAreFound(t, matches) })
}

func waitingAreFound(t *testing.T, matches [][]byte) {
	r := newRig(t, func(o *archive.Options) {
		o.Store = &stubborn{o.Store, func(string) bool { return true }, errOfStore}
		o.Retry, o.LongestRetry = time.Hour, time.Hour // so it tries only one file
	})
	var want []string
	for day := range 3 {
		name := fmt.Sprintf("m%d-%08x.ssr", 2-day, 3-day)
		put(t, r.live, name, matches[2-day], 2-day)
		want = append(want, name)
	}
	if err := r.Adopt(r.live); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	same(t, "found", r.find(t, server.ArchiveQuery{}), want)
	put(t, r.live, "m3-00000004.ssr", matches[3], 3)
	r.Add(filepath.Join(r.live, "m3-00000004.ssr"))
	time.Sleep(time.Second)
	synctest.Wait()
	same(t, "found later", r.find(t, server.ArchiveQuery{}), slices.Insert(want, 0, "m3-00000004.ssr"))
	if got := r.Waiting(); got != 4 {
		t.Errorf("got %d files that wait, want 4", got)
	}
}
