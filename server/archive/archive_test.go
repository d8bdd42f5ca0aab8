//go:build !js

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 5 * time.Minute

// sample returns a replay of the test data: of the game ledger, or with a result of audited ledger.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata/replays/versions", name+".ssr"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noon is when the match of day 0 ended: ten days ago.
var noon = time.Now().UTC().AddDate(0, 0, -10).Truncate(time.Second)

// put writes a file of a day.
func put(t *testing.T, dir, name string, content []byte, day int) {
	t.Helper()
	part, at := filepath.Join(t.TempDir(), name), noon.AddDate(0, 0, day) // so that nobody sees the file with another time
	if err := errors.Join(os.WriteFile(part, content, 0o600), os.Chtimes(part, at, at), os.Rename(part, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

// A rig is an archive with the folders before and behind it.
type rig struct {
	*archive.Archive
	live, stored string
	store        *archive.Folder
	o            archive.Options
}

func newRig(t *testing.T, change func(*archive.Options)) *rig {
	t.Helper()
	r := &rig{live: t.TempDir(), stored: t.TempDir()}
	var err error
	if r.store, err = archive.OpenFolder(r.stored); err != nil {
		t.Fatal(err)
	}
	r.o = archive.Options{Store: r.store, Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Grace: -1, Retry: time.Millisecond, LongestRetry: 4 * time.Millisecond}
	if change != nil {
		change(&r.o)
	}
	r.start(t)
	return r
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	var err error
	if r.Archive, err = archive.New(r.o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
}

// settle adopts what is in the live folder, and waits until it is stored.
func (r *rig) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := errors.Join(r.Adopt(r.live), r.Flush(ctx)); err != nil {
		t.Fatal(err)
	}
}

// names returns the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// find returns the names that a query finds, of all pages.
func (r *rig) find(t *testing.T, q server.ArchiveQuery) []string {
	t.Helper()
	found := []string{}
	for {
		page, next, err := r.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page {
			found = append(found, a.Name)
		}
		if q.After = next; next == "" {
			return found
		}
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Finished files move. A running match, a match without an end and foreign files stay.
func TestMove(t *testing.T) {
	r := newRig(t, func(o *archive.Options) {
		o.Seal = func(ctx context.Context, path string) error {
			return replay.SealFile(ctx, path, replay.WriterOptions{SegmentTicks: 50})
		}
	})
	put(t, r.live, "sealed-01020300.ssr", sample(t, "v1-sealed"), 1)
	put(t, r.live, "open-01020300.ssr", sample(t, "v1-open"), 2)
	put(t, r.live, "torn-01020300.ssr", sample(t, "v1-torn"), 3)
	put(t, r.live, "open-01020300-desync-7-player1.zip", []byte("a bundle"), 4)
	put(t, r.live, "notes.txt", []byte("private"), 5)
	running, err := replay.Create(filepath.Join(r.live, "running-01020300.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if _, err := running.Write(sample(t, "v1-sealed")); err != nil {
		t.Fatal(err)
	}
	if err := r.Played(filepath.Join(r.live, "sealed-01020300.ssr"), map[lockstep.Player]string{1: "ada@example"}); err != nil {
		t.Fatal(err)
	}
	r.settle(t)
	same(t, "left", names(t, r.live), []string{"notes.txt", "running-01020300.ssr", "torn-01020300.ssr"})
	same(t, "stored", names(t, r.stored), []string{
		"open-01020300-desync-7-player1.zip", "open-01020300-desync-7-player1.zip.json", "open-01020300.ssr", "open-01020300.ssr.json",
		"sealed-01020300.ssr", "sealed-01020300.ssr.json",
	})
	got, err := r.Get(t.Context(), "sealed-01020300.ssr")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "description", got, server.Archived{
		Name: "sealed-01020300.ssr", SizeBytes: 2288, Ended: noon.AddDate(0, 0, 1), Kind: "replay", Match: "sealed", ID: "01020300000000000000000000000000", Stored: true,
		Game: "ledger", Build: "for ever", Ticks: got.Ticks, Reason: "the golden match is over",
		Players: []server.ArchivedPlayer{{Seat: 0, Name: "player 0 é"}, {Seat: 1, Name: "player 1 é"}, {Seat: 2, Name: "player 2 é", TakenOver: 180}}, Subjects: map[lockstep.Player]string{1: "ada@example"},
	})
	f, err := r.Open(t.Context(), "sealed-01020300.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, sample(t, "v1-sealed")) {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if bundle, err := r.Get(t.Context(), "open-01020300-desync-7-player1.zip"); err != nil || bundle.Kind != "bundle" || bundle.Match != "open" || bundle.ID != "01020300" {
		t.Errorf("the bundle: got %+v, %v", bundle, err)
	}
	for _, name := range []string{"none.ssr", "../index.db", "sealed-01020300.ssr.json", ""} {
		if _, err := r.Open(t.Context(), name); !errors.Is(err, server.ErrArchived) {
			t.Errorf("%q: got %v, want %v", name, err, server.ErrArchived)
		}
	}
}

var errCrash = errors.New("crash")

// A failing store fails from one of its calls on, before or after that call has its effect.
type failing struct {
	archive.Store
	mu    sync.Mutex
	left  int  // calls until it fails
	after bool // fails after the effect
	away  int  // calls that fail; negative: all of them
	calls int
}

func (f *failing) call(effect func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.left--; f.left >= 0 || f.away == 0 {
		return effect()
	}
	f.away--
	if f.after {
		return errors.Join(effect(), errCrash)
	}
	return errCrash
}

func (f *failing) Put(ctx context.Context, name, path string) error {
	return f.call(func() error { return f.Store.Put(ctx, name, path) })
}

func (f *failing) Write(ctx context.Context, name string, content []byte) error {
	return f.call(func() error { return f.Store.Write(ctx, name, content) })
}

// Whatever step a crash follows, the file is whole in one of the folders, and the next start completes the move.
func TestCrash(t *testing.T) {
	want := sample(t, "v1-sealed")
	const name = "duel-01020300.ssr"
	for _, across := range []bool{false, true} {
		for left := range 3 { // description, file, nothing
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("across=%v,calls=%d,after=%v", across, left, after), func(t *testing.T) {
					broken := &failing{left: left, after: after, away: -1}
					r := newRig(t, func(o *archive.Options) {
						broken.Store = o.Store
						if across {
							broken.Store = archive.Across{Folder: o.Store.(*archive.Folder)}
						}
						o.Store = broken
					})
					put(t, r.live, name, want, 0)
					if err := r.Played(filepath.Join(r.live, name), map[lockstep.Player]string{0: "ada"}); err != nil {
						t.Fatal(err)
					}
					if err := r.Adopt(r.live); err != nil {
						t.Fatal(err)
					}
					for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
						broken.mu.Lock()
						reached := broken.calls > left || left == 2 && r.Waiting() == 0
						broken.mu.Unlock()
						if reached {
							break
						}
					}
					r.Close() // the crash
					whole := 0
					for _, dir := range []string{r.live, r.stored} {
						if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Equal(b, want) {
							whole++
						} else if err == nil {
							t.Errorf("%s has %d bytes, want %d", dir, len(b), len(want))
						}
					}
					if whole == 0 {
						t.Error("the replay is lost")
					}
					broken.mu.Lock()
					broken.away = 0
					broken.mu.Unlock()
					r.start(t)
					r.settle(t)
					if got, err := r.Get(t.Context(), name); err != nil || !got.Stored || got.Subjects[0] != "ada" {
						t.Errorf("after the next start: got %+v, %v", got, err)
					}
					if b, err := os.ReadFile(filepath.Join(r.stored, name)); err != nil || !bytes.Equal(b, want) {
						t.Errorf("in the archive: %d bytes, %v", len(b), err)
					}
					if left := names(t, r.live); !slices.Equal(left, []string{}) {
						t.Errorf("left %v", left)
					}
				})
			}
		}
	}
}

// A store that is away is asked again until it is back. Meanwhile the files are found where they are.
func TestAway(t *testing.T) {
	broken := &failing{away: 5}
	var log lines
	r := newRig(t, func(o *archive.Options) {
		broken.Store, o.Store = o.Store, broken
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	put(t, r.live, "a-01020300.ssr", sample(t, "v1-sealed"), 0)
	put(t, r.live, "b-01020300.ssr", sample(t, "v1-sealed"), 1)
	r.settle(t)
	same(t, "found", r.find(t, server.ArchiveQuery{}), []string{"b-01020300.ssr", "a-01020300.ssr"})
	same(t, "left", names(t, r.live), []string{})
	if n := strings.Count(log.String(), "retry_in="); n != 5 {
		t.Errorf("got %d lines about the store, want 5:\n%s", n, log.String())
	}
}

// A file that cannot be sealed, such as on a full disk, does not stop the others, and is tried again.
func TestRefusedOnce(t *testing.T) {
	var tries atomic.Int32
	r := newRig(t, func(o *archive.Options) {
		o.LongestRetry = 2 * time.Millisecond
		o.Seal = func(ctx context.Context, path string) error {
			if tries.Add(1) < 3 {
				return errors.New("the disk is full")
			}
			return os.WriteFile(path, sample(t, "v1-sealed"), 0o600)
		}
	})
	put(t, r.live, "a-01020300.ssr", sample(t, "v1-open"), 0)
	put(t, r.live, "b-01020300.ssr", sample(t, "v1-sealed"), 1)
	r.settle(t)
	for deadline := time.Now().Add(patience); len(names(t, r.live)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("left %v after %d tries", names(t, r.live), tries.Load())
		}
	}
	if n := tries.Load(); n != 3 {
		t.Errorf("got %d tries, want 3", n)
	}
}

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// library fills a live folder with matches of ten days.
func library(t *testing.T, r *rig) {
	t.Helper()
	for day := range 10 {
		name, file := fmt.Sprintf("m%d-01020300.ssr", day), "v1-sealed"
		if day%2 == 1 {
			file = "v1result-sealed" // 2408 bytes
		}
		put(t, r.live, name, sample(t, file), day)
		if err := r.Played(filepath.Join(r.live, name), map[lockstep.Player]string{0: "ada", 1: fmt.Sprintf("guest %d", day)}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, r.live, "m3-01020300-desync-7-player1.zip", []byte("a bundle"), 3)
	put(t, r.live, "m3-01020300-desync-7-player1.html", []byte("a page"), 3)
	r.settle(t)
}

func replays(days ...int) []string {
	found := []string{}
	for _, day := range days {
		found = append(found, fmt.Sprintf("m%d-01020300.ssr", day))
	}
	return found
}

func TestFind(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	for _, x := range []struct {
		name string
		q    server.ArchiveQuery
		want []string
	}{
		{"all", server.ArchiveQuery{}, replays(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)},
		{"player", server.ArchiveQuery{Player: "PLAYER 1 é", Since: noon.AddDate(0, 0, 8)}, replays(9, 8)},
		{"part of a player's name", server.ArchiveQuery{Player: "player"}, replays()},
		{"subject", server.ArchiveQuery{Subject: "guest 4"}, replays(4)},
		{"subject and player", server.ArchiveQuery{Subject: "guest 4", Player: "player 2 é"}, replays(4)},
		{"another's player", server.ArchiveQuery{Subject: "guest 4", Player: "bob"}, replays()},
		{"time", server.ArchiveQuery{Since: noon.AddDate(0, 0, 2), Until: noon.AddDate(0, 0, 5)}, replays(4, 3, 2)},
		{"match", server.ArchiveQuery{Match: "m2"}, replays(2)},
		{"game", server.ArchiveQuery{Game: "audited ledger", Since: noon.AddDate(0, 0, 5)}, replays(9, 7, 5)},
		{"build", server.ArchiveQuery{Build: "never"}, replays()},
		{"result", server.ArchiveQuery{Result: "Best:1", Until: noon.AddDate(0, 0, 4)}, replays(3, 1)},
		{"another result", server.ArchiveQuery{Result: "Best:2"}, replays()},
		{"no such field", server.ArchiveQuery{Result: "Best.Of:1"}, replays()},
		{"reason", server.ArchiveQuery{Result: "Golden", Until: noon.AddDate(0, 0, 4)}, replays(2, 0)},
		{"after", server.ArchiveQuery{After: "m2-01020300.ssr"}, replays(1, 0)},
		{"after, of a player", server.ArchiveQuery{Player: "player 0 é", After: "m1-01020300.ssr"}, replays(0)},
		{"bundles", server.ArchiveQuery{Kind: "bundle"}, []string{"m3-01020300-desync-7-player1.zip"}},
	} {
		same(t, x.name, r.find(t, x.q), x.want)
	}
	if _, _, err := r.Find(t.Context(), server.ArchiveQuery{After: "none.ssr"}); !errors.Is(err, server.ErrQuery) {
		t.Errorf("after a name that is not there: got %v, want %v", err, server.ErrQuery)
	}
}

func TestKeep(t *testing.T) {
	for _, x := range []struct {
		name string
		keep archive.Keep
		want []string
	}{
		{"all", archive.Keep{}, replays(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)},
		{"age", archive.Keep{Age: 4*24*time.Hour + 12*time.Hour}, replays(9, 8, 7, 6)},
		{"number", archive.Keep{Replays: 3}, replays(9, 8, 7)},
		{"bytes", archive.Keep{Bytes: 5000}, replays(9, 8)},
	} {
		r := newRig(t, nil)
		library(t, r)
		r.Close()
		r.o.Keep = x.keep
		r.start(t)
		if err := r.Retain(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		same(t, x.name, r.find(t, server.ArchiveQuery{}), x.want)
		left := 0
		for _, name := range names(t, r.stored) {
			if strings.HasSuffix(name, ".ssr") {
				left++
			}
		}
		bundles := r.find(t, server.ArchiveQuery{Kind: "bundle"})
		if left != len(x.want) || (len(bundles) == 1) != slices.Contains(x.want, "m3-01020300.ssr") {
			t.Errorf("%s: the store has %v, and the index the bundles %v", x.name, names(t, r.stored), bundles)
		}
	}
	if _, err := archive.New(archive.Options{Keep: archive.Keep{Bytes: -1}}); err == nil {
		t.Error("negative: got no error")
	}
}

// A replay takes its bundles with it, also while the store is away.
func TestDelete(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	if err := r.Delete(t.Context(), "m3-01020300.ssr"); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), "m3-01020300.ssr"); !errors.Is(err, server.ErrArchived) {
		t.Errorf("again: got %v, want %v", err, server.ErrArchived)
	}
	for _, name := range names(t, r.stored) {
		if strings.HasPrefix(name, "m3") {
			t.Errorf("%s is left", name)
		}
	}
	same(t, "found", r.find(t, server.ArchiveQuery{Subject: "ada"}), replays(9, 8, 7, 6, 5, 4, 2, 1, 0))
}

// The index is made again from the files: if it is gone, damaged or older than they are.
func TestRebuild(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	want := r.find(t, server.ArchiveQuery{Subject: "ada"})
	for _, x := range []struct {
		name   string
		damage func() error
	}{
		{"gone", func() error { return os.Remove(r.o.Index) }},
		{"garbage", func() error { return os.WriteFile(r.o.Index, bytes.Repeat([]byte("x"), 70000), 0o600) }},
		{"empty", func() error { return os.WriteFile(r.o.Index, nil, 0o600) }},
		{"without a description", func() error {
			return errors.Join(os.Remove(r.o.Index), os.Remove(filepath.Join(r.stored, "m9-01020300.ssr.json")), os.WriteFile(filepath.Join(r.stored, "m8-01020300.ssr.json"), []byte("{"), 0o600))
		}},
	} {
		r.Close()
		if err := x.damage(); err != nil {
			t.Fatal(err)
		}
		r.start(t)
		r.settle(t)
		if x.name == "without a description" { // only the description has the subjects
			want = replays(7, 6, 5, 4, 3, 2, 1, 0)
		}
		if x.name != "empty" {
			same(t, x.name, r.find(t, server.ArchiveQuery{Subject: "ada"}), want)
		}
		if x.name == "empty" {
			if _, err := r.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(os.Remove(filepath.Join(r.stored, "m0-01020300.ssr")), os.WriteFile(filepath.Join(r.stored, "new-01020300.ssr"), sample(t, "v1-sealed"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Rebuild(t.Context()); err != nil || n != 12 {
		t.Errorf("got %d files, %v, want 12", n, err)
	}
	same(t, "one gone, one new", r.find(t, server.ArchiveQuery{})[:2], []string{"new-01020300.ssr", "m9-01020300.ssr"})
}

// A damaged index is an error and no crash of the server.
func TestDamagedIndex(t *testing.T) {
	r := newRig(t, nil)
	library(t, r)
	whole, err := os.ReadFile(r.o.Index)
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size < len(whole); size += 4096 {
		if err := os.WriteFile(r.o.Index, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		r.Find(t.Context(), server.ArchiveQuery{Subject: "ada"})
		r.Get(t.Context(), "m3-01020300.ssr")
		garbled := bytes.Clone(whole)
		copy(garbled[size:], bytes.Repeat([]byte{0xa5}, 4096))
		if err := os.WriteFile(r.o.Index, garbled, 0o600); err != nil {
			t.Fatal(err)
		}
		r.Find(t.Context(), server.ArchiveQuery{Subject: "ada"})
		r.Delete(t.Context(), "none.ssr")
	}
}

// Several archives can share a store and an index, as two builds of a server do beside each other.
func TestShared(t *testing.T) {
	r := newRig(t, nil)
	want := make(map[string]bool)
	var wait sync.WaitGroup
	for i := range 3 {
		other := &rig{live: t.TempDir(), stored: r.stored, o: r.o}
		other.start(t)
		for j := range 5 {
			name := fmt.Sprintf("m%d%d-01020300.ssr", i, j)
			put(t, other.live, name, sample(t, "v1-sealed"), i)
			want[name] = true
		}
		wait.Go(func() { other.settle(t) })
	}
	wait.Wait()
	same(t, "found", slices.Sorted(slices.Values(r.find(t, server.ArchiveQuery{}))), slices.Sorted(maps.Keys(want)))
}
