//go:build !js && !wasip1

package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/archive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect starts a node with an empty bucket, and connects to it.
func connect(t *testing.T) *storage.Conn {
	t.Helper()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	return dial(t, node.URL())
}

func dial(t *testing.T, url string) *storage.Conn {
	t.Helper()
	conn, err := storage.Dial(url, storage.DialOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := conn.Setup(ctx, storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	return conn
}

// file writes a file, and returns its path.
func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, s archive.Store) (all []string) {
	t.Helper()
	if err := s.List(t.Context(), func(o archive.Object) error {
		all = append(all, o.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// Files of every size come back whole, wherever a reader begins.
func TestStore(t *testing.T) {
	s := objects.New(connect(t))
	if got := names(t, s); len(got) > 0 {
		t.Errorf("an empty bucket lists %v", got)
	}
	for _, row := range []struct {
		name string
		size int
	}{{"empty.ssr", 0}, {"byte.ssr", 1}, {"chunk.ssr", 128 << 10}, {"more.ssr", 128<<10 + 1}, {"large.ssr", 17 << 20}, {"öde/a b.ssr", 300}} {
		content := bytes.Repeat([]byte("0123456789abcdef"), row.size/16+1)[:row.size]
		if err := s.Put(t.Context(), row.name, file(t, content)); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		f, err := s.Open(t.Context(), row.name)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		for _, from := range []int{0, row.size / 3, row.size} {
			if _, err := f.Seek(int64(from), io.SeekStart); err != nil {
				t.Error(err)
			}
			if b, err := io.ReadAll(f); err != nil || !bytes.Equal(b, content[from:]) {
				t.Errorf("%s from %d: got %d bytes, %v, want %d", row.name, from, len(b), err, row.size-from)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		want, err := objects.SumOf(bytes.NewReader(content))
		if got, gerr := s.Sum(t.Context(), row.name); errors.Join(err, gerr) != nil || got != want {
			t.Errorf("%s: got the sum %s, %v, want %s", row.name, got, errors.Join(err, gerr), want)
		}
	}
	if got := strings.Join(names(t, s), " "); got != "byte.ssr chunk.ssr empty.ssr large.ssr more.ssr öde/a b.ssr" {
		t.Errorf("listed %s", got)
	}
}

func TestReplaceAndDelete(t *testing.T) {
	conn := connect(t)
	s := objects.New(conn)
	before := time.Now()
	for _, content := range []string{strings.Repeat("old", 1<<17), "new"} {
		if err := s.Write(t.Context(), "a.ssr", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), "a.ssr.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	f, err := s.Open(t.Context(), "a.ssr")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "new" {
		t.Errorf("got %q, %v", b, err)
	}
	f.Close()
	if err := s.List(t.Context(), func(o archive.Object) error {
		if o.Name == "a.ssr" && (o.SizeBytes != 3 || o.Written.Before(before.Add(-time.Minute)) || o.Written.After(time.Now().Add(time.Minute))) {
			t.Errorf("listed %+v", o)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	stop := errors.New("enough")
	if err := s.List(t.Context(), func(archive.Object) error { return stop }); err != stop {
		t.Errorf("got %v, want %v", err, stop)
	}
	for range 2 {
		if err := errors.Join(s.Delete(t.Context(), "a.ssr"), s.Delete(t.Context(), "never.ssr")); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Open(t.Context(), "a.ssr"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: got %v, want %v", err, fs.ErrNotExist)
	}
	if err := s.Put(t.Context(), "none.ssr", file(t, nil)+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if got := names(t, s); !slices.Equal(got, []string{"a.ssr.json"}) {
		t.Errorf("listed %v", got)
	}
	if n := chunks(t, conn); n != 1 {
		t.Errorf("got %d chunks in the bucket, want that of the remaining file", n)
	}
}

// chunks returns the number of chunks in the bucket.
func chunks(t *testing.T, conn *storage.Conn) int {
	t.Helper()
	stream, err := conn.JS.Stream(t.Context(), "OBJ_"+storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("$O."+storage.ReplaysBucket+".C.>"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, count := range info.State.Subjects {
		n += int(count)
	}
	return n
}

// A chunk that is not what was put is an error, and no file.
func TestWrongChunk(t *testing.T) {
	conn := connect(t)
	s := objects.New(conn)
	content := bytes.Repeat([]byte("x"), 300<<10)
	if err := s.Write(t.Context(), "a.ssr", content); err != nil {
		t.Fatal(err)
	}
	bucket, err := conn.JS.ObjectStore(t.Context(), storage.ReplaysBucket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := bucket.GetInfo(t.Context(), "a.ssr")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := conn.JS.Stream(t.Context(), "OBJ_"+storage.ReplaysBucket)
	if err == nil {
		err = stream.DeleteMsg(t.Context(), 2)
	}
	if err == nil {
		_, err = conn.JS.Publish(t.Context(), "$O."+storage.ReplaysBucket+".C."+info.NUID, bytes.Repeat([]byte("y"), 128<<10))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), "a.ssr"); !errors.Is(err, objects.ErrSum) {
		t.Errorf("got %v, want %v", err, objects.ErrSum)
	}
}

// The journal has each change once, whatever was before the mark, and knows marks of this bucket only.
func TestJournal(t *testing.T) {
	conn := connect(t)
	s := objects.New(conn)
	if err := s.Write(t.Context(), "before.ssr", []byte("1")); err != nil {
		t.Fatal(err)
	}
	mark, err := s.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := mark
	changes := func() (all []string) {
		t.Helper()
		if err := s.Changes(t.Context(), mark, func(c archive.Change) error {
			all = append(all, fmt.Sprint(c.Name, " ", c.SizeBytes, " ", c.Deleted))
			mark = c.Mark
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := func(what string, want ...string) {
		t.Helper()
		if got := changes(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	want("nothing")
	if err := errors.Join(s.Write(t.Context(), "a.ssr", []byte("22")), s.Write(t.Context(), "b.ssr", make([]byte, 300<<10))); err != nil {
		t.Fatal(err)
	}
	want("two files", "a.ssr 2 false", "b.ssr 307200 false")
	want("again")
	if err := errors.Join(s.Write(t.Context(), "a.ssr", []byte("333")), s.Delete(t.Context(), "b.ssr"), s.Delete(t.Context(), "before.ssr")); err != nil {
		t.Fatal(err)
	}
	want("replaced and deleted", "a.ssr 3 false", "b.ssr 0 true", "before.ssr 0 true")
	mark = first
	want("everything", "a.ssr 3 false", "b.ssr 0 true", "before.ssr 0 true")
	mark = first
	stop := errors.New("enough")
	if err := s.Changes(t.Context(), first, func(archive.Change) error { return stop }); err != stop {
		t.Errorf("got %v, want %v", err, stop)
	}
	created, _, _ := strings.Cut(first, ".")
	for _, bad := range []string{"", "x", "1.1", created + ".999999"} {
		if err := s.Changes(t.Context(), bad, func(archive.Change) error { return nil }); err != archive.ErrMark {
			t.Errorf("the mark %q: got %v, want %v", bad, err, archive.ErrMark)
		}
	}
	if err := conn.JS.DeleteStream(t.Context(), "OBJ_"+storage.ReplaysBucket); err != nil {
		t.Fatal(err)
	}
	if err := conn.Setup(t.Context(), storage.Layout{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Changes(t.Context(), first, func(archive.Change) error { return nil }); err != archive.ErrMark {
		t.Errorf("another bucket: got %v, want %v", err, archive.ErrMark)
	}
}

// What a crash leaves of a file goes, and so does the note of a deleted one. Files and what is young stay.
func TestClean(t *testing.T) {
	conn := connect(t)
	s := objects.New(conn)
	clean := func(what string, age time.Duration, want int) {
		t.Helper()
		if n, err := s.CleanOlder(t.Context(), age); n != want || err != nil {
			t.Errorf("%s: removed %d, %v, want %d", what, n, err, want)
		}
	}
	crash := func(id string) {
		t.Helper()
		for range 2 {
			if _, err := conn.JS.Publish(t.Context(), "$O."+storage.ReplaysBucket+".C."+id, []byte("a chunk")); err != nil {
				t.Fatal(err)
			}
		}
	}
	clean("an empty bucket", 0, 0)
	large := make([]byte, 300<<10) // 3 chunks
	crash("FIRST")
	clean("no file, so nothing is old", 0, 0)
	if err := errors.Join(s.Write(t.Context(), "a.ssr", large), s.Write(t.Context(), "gone.ssr", large), s.Delete(t.Context(), "gone.ssr"), s.Write(t.Context(), "b.ssr", []byte("old"))); err != nil {
		t.Fatal(err)
	}
	crash("SECOND") // after the newest file
	clean("everything is young", time.Hour, 0)
	if n, err := s.Clean(t.Context()); n != 0 || err != nil {
		t.Errorf("a week: removed %d, %v", n, err)
	}
	clean("the first", 0, 2)
	if n := chunks(t, conn); n != 3+1+2 {
		t.Errorf("got %d chunks, want those of two files and of the latest crash", n)
	}
	clean("again", 0, 0)
	if err := errors.Join(s.Write(t.Context(), "c.ssr", large), s.Delete(t.Context(), "c.ssr"), s.Write(t.Context(), "b.ssr", []byte("new"))); err != nil {
		t.Fatal(err)
	}
	clean("the second", 0, 2)
	crash("THIRD")
	if err := s.Write(t.Context(), "gone.ssr", large); err != nil {
		t.Fatal(err)
	}
	clean("the third", 0, 1)
	for name, want := range map[string]int{"a.ssr": len(large), "b.ssr": 3, "gone.ssr": len(large)} {
		f, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); err != nil || len(b) != want {
			t.Errorf("%s: got %d bytes, %v, want %d", name, len(b), err, want)
		}
		f.Close()
	}
	s = objects.New(conn) // which looks at everything again
	clean("nothing is left", 0, 0)
	if got := names(t, s); !slices.Equal(got, []string{"a.ssr", "b.ssr", "gone.ssr"}) || chunks(t, conn) != 3+1+3 {
		t.Errorf("listed %v, with %d chunks", got, chunks(t, conn))
	}
}

// A Put that took so long that others may have removed its first chunks leaves the old file, and nothing else.
func TestTooLate(t *testing.T) {
	conn := connect(t)
	s := objects.New(conn)
	if err := s.Write(t.Context(), "a.ssr", []byte("old")); err != nil {
		t.Fatal(err)
	}
	restore := objects.SetLongestWrite(-1)
	err := s.Write(t.Context(), "a.ssr", make([]byte, 300<<10))
	restore()
	if err == nil || !strings.Contains(err.Error(), "took too long") {
		t.Errorf("got %v", err)
	}
	f, err := s.Open(t.Context(), "a.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "old" || chunks(t, conn) != 1 {
		t.Errorf("got %q, %v, with %d chunks", b, err, chunks(t, conn))
	}
}

// Each of two servers finds what the other one stores.
func TestTwoArchives(t *testing.T) {
	conn := connect(t)
	content, err := os.ReadFile("../../testdata/replays/versions/v1-sealed.ssr")
	if err != nil {
		t.Fatal(err)
	}
	var archives []*archive.Archive
	for i := range 2 {
		a, err := archive.New(archive.Options{
			Store: objects.New(conn), Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Follow: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		archives = append(archives, a)
		path := filepath.Join(t.TempDir(), fmt.Sprintf("m%d-01020300.ssr", i))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		a.Add(path)
	}
	for _, want := range []int{2, 1} {
		for _, a := range archives {
			for found, deadline := []server.Archived(nil), time.Now().Add(time.Minute); len(found) != want; time.Sleep(time.Millisecond) {
				if found, _, err = a.Find(t.Context(), server.ArchiveQuery{}); err != nil || time.Now().After(deadline) {
					t.Fatalf("found %d replays, want %d, %v", len(found), want, err)
				}
			}
		}
		if want == 2 {
			if err := archives[1].Delete(t.Context(), "m0-01020300.ssr"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// An archive keeps a replay on the disk until the storage has it, and finds it there with a new index.
func TestArchive(t *testing.T) {
	dir, stored := t.TempDir(), t.TempDir()
	node, err := storage.StartNode(storage.NodeOptions{Name: "a", Dir: stored})
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, node.URL())
	node.Stop()
	content, err := os.ReadFile("../../testdata/replays/versions/v1-sealed.ssr")
	path := filepath.Join(dir, "duel-01020300.ssr")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	start := func() *archive.Archive {
		a, err := archive.New(archive.Options{
			Store: objects.New(conn), Index: filepath.Join(t.TempDir(), "index.db"), Log: slog.New(slog.DiscardHandler), Retry: time.Millisecond, LongestRetry: 50 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a
	}
	a := start()
	if err := errors.Join(a.Played(path, map[lockstep.Player]string{2: "ada"}), a.Adopt(dir)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, content) {
		t.Fatalf("while the storage is away: %d bytes, %v", len(b), err)
	}
	node, err = storage.StartNode(storage.NodeOptions{Name: "a", Dir: stored, Listen: strings.TrimPrefix(node.URL(), "nats://")})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	a.Close()
	a = start()
	if err := a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	found, _, err := a.Find(t.Context(), server.ArchiveQuery{Player: "player 1 é"})
	if err != nil || len(found) != 1 || found[0].SizeBytes != int64(len(content)) || found[0].Subjects[2] != "ada" {
		t.Errorf("a new index: got %+v, %v", found, err)
	}
}
