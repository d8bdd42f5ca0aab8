package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A smallDisk has room for some bytes.
type smallDisk struct {
	bytes.Buffer
	mu    sync.Mutex
	room  int
	fulls int // incomplete writes
}

func (d *smallDisk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(p), d.room)
	d.room -= n
	d.Buffer.Write(p[:n])
	if n < len(p) {
		d.fulls++
		return n, &fs.PathError{Op: "write", Path: "/secret/match.ssr", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (d *smallDisk) add(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room += room
}

// writeBehind returns a Writer whose goroutine writes.
func writeBehind(t *testing.T, w io.Writer, o replay.WriterOptions) *replay.Writer {
	t.Helper()
	x := replay.NewWriter(w, o)
	if err := x.WriteBehind(); err != nil {
		t.Fatal(err)
	}
	return x
}

// Scenario 44: a disk that is full at any byte loses nothing if it has room again before the match is over. The file is
// the same as without the failure. Until then it holds a valid prefix.
func TestWaitForRoom(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	write := func(t *testing.T, d *smallDisk, more int) (full bool) {
		w := writeBehind(t, d, replay.WriterOptions{FlushTicks: 3})
		log := record.Tee(w, watchRoom(func() {
			if synctest.Wait(); w.Backlog().Full {
				full = true
				d.add(more)
			}
		}))
		if _, err := playOn(t, g, h, log, 40); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		for synctest.Wait(); w.Backlog().Full; synctest.Wait() {
			full = true
			d.add(100)
			time.Sleep(time.Second)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return full
	}
	synctest.Test(t, func(t *testing.T) {
		var whole smallDisk
		whole.room = 1 << 20
		if write(t, &whole, 0) {
			t.Fatal("a large disk is full")
		}
		fulls := 0
		for room := 0; room < whole.Len(); room += 3 {
			for _, more := range []int{0, 1, 50, 1 << 20} {
				d := &smallDisk{room: room}
				if !write(t, d, more) || !bytes.Equal(d.Bytes(), whole.Bytes()) {
					t.Fatalf("room for %d bytes, then %d more each time: got a file of %d bytes, not the one of %d", room, more, d.Len(), whole.Len())
				}
				fulls += d.fulls
			}
		}
		if fulls < 2*whole.Len()/3 {
			t.Errorf("the disk was full %d times in %d bytes", fulls, whole.Len())
		}
	})
}

// watchRoom runs after each record.
type watchRoom func()

func (f watchRoom) Append([]byte) error { f(); return nil }

// Records that a full disk rejects are buffered up to a limit. Then the match ends for a reason that does not name the
// path.
func TestNoRoomForLong(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.KeyframeEvery = 1
	g, h := newDots(t, s)
	d := &smallDisk{room: 1000}
	w := writeBehind(t, d, replay.WriterOptions{FlushTicks: 1})
	most, crowded := int64(0), false
	log := record.Tee(w, watchRoom(func() {
		for w.Size() > 1000 && w.Err() == nil && !w.Backlog().Full {
			runtime.Gosched() // until the disk has said it
		}
		b := w.Backlog()
		most, crowded = max(most, b.Bytes), crowded || b.Crowded
	}))
	ticks, err := playOn(t, g, h, log, 1<<20)
	if !errors.Is(err, replay.ErrDiskFull) || !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	if ticks < 100 || most < 1<<20 || most > 3<<20 || !crowded {
		t.Errorf("%d ticks, %d bytes waited, crowded %t", ticks, most, crowded)
	}
	if err := w.Close(); !errors.Is(err, replay.ErrDiskFull) {
		t.Errorf("closed with %v", err)
	}
	if v := verifyBytes(t, g, d.Bytes()); v.Differed > 0 || v.Ended {
		t.Errorf("%+v", v)
	}
	short := writeBehind(t, &smallDisk{room: 1000}, replay.WriterOptions{FlushTicks: 1})
	if _, err := playOn(t, g, h, short, 100); err != nil {
		t.Fatal(err)
	}
	if err := short.Close(); !errors.Is(err, replay.ErrDiskFull) {
		t.Errorf("closed without room: got %v", err)
	}
}

// A frozenDisk answers no write and no sync while it is locked.
type frozenDisk struct {
	frozen sync.RWMutex
	faultyFile
}

func (d *frozenDisk) Write(p []byte) (int, error) {
	d.frozen.RLock()
	defer d.frozen.RUnlock()
	return d.faultyFile.Write(p)
}

func (d *frozenDisk) Sync() error {
	d.frozen.RLock()
	defer d.frozen.RUnlock()
	return d.faultyFile.Sync()
}

// No call but Close waits for a disk that does not answer. What waits is bounded and told. When the disk is back the file
// has all of it, and no commit was reported before.
func TestFrozenDisk(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	g, h := newDots(t, s)
	for _, durability := range []replay.Durability{replay.SyncNone, replay.SyncInterval, replay.SyncCommit} {
		d := &frozenDisk{}
		d.failAt = -1
		w := writeBehind(t, d, replay.WriterOptions{FlushTicks: 1, Durability: durability})
		if b := w.Backlog(); b != (replay.Backlog{}) {
			t.Errorf("nothing was written: %+v", b)
		}
		d.frozen.Lock()
		began := time.Now()
		if _, err := playOn(t, g, h, w, 100); err != nil {
			t.Fatal(err)
		}
		var safe atomic.Bool
		if durability == replay.SyncCommit {
			if err := w.Commit(func() { safe.Store(true) }); err != nil {
				t.Fatal(err)
			}
		}
		size := w.Size()
		if b := w.Backlog(); b.Bytes != size || b.Full || b.Crowded || b.Since.Before(began) || safe.Load() || len(d.data) > 0 {
			t.Errorf("%v: %+v of %d bytes, safe %t", durability, b, size, safe.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := w.Await(ctx, size); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: awaited: %v", durability, err)
		}
		cancel()
		d.frozen.Unlock()
		if err := w.Await(t.Context(), size); err != nil || w.Backlog() != (replay.Backlog{}) {
			t.Errorf("%v: %v, %+v", durability, err, w.Backlog())
		}
		if err := w.Close(); err != nil || safe.Load() && d.synced != len(d.data) {
			t.Errorf("%v: %v", durability, err)
		}
		if v := verifyBytes(t, g, d.data); v.Ticks != 100 {
			t.Errorf("%v: %+v", durability, v)
		}
	}
}

// A disk that never answers ends the match at a limit of memory.
func TestFrozenForLong(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.KeyframeEvery = 1
	g, h := newDots(t, s)
	d := &frozenDisk{}
	d.failAt = -1
	w := writeBehind(t, d, replay.WriterOptions{FlushTicks: 1})
	d.frozen.Lock()
	_, err := playOn(t, g, h, w, 1<<20)
	if err == nil || !strings.Contains(err.Error(), "the disk has not answered for") || errors.Is(err, replay.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
	if b := w.Backlog(); !b.Crowded || b.Bytes > 3<<20 {
		t.Errorf("%+v", b)
	}
	d.frozen.Unlock()
	if cerr := w.Close(); cerr == nil || !strings.HasSuffix(err.Error(), cerr.Error()) {
		t.Errorf("got %v and %v", err, cerr)
	}
}

// Scenarios 41 and 43, for commits, and writes, that run concurrently with the match: committed records survive any failing sync;
// after a failure no sync is reported or tried.
func TestCommit(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	g, h := newDots(t, s)
	told, failed := 0, 0
	for i := range 120 {
		at := 1 + i/2
		f := &faultyFile{failAt: at, fault: "EIO once"}
		w := replay.NewWriter(f, replay.WriterOptions{Durability: replay.SyncCommit})
		if i%2 == 1 {
			if err := w.WriteBehind(); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan int, 100)
		tick := 0
		log := record.Tee(w, watchRoom(func() {
			tick++
			n := tick
			w.Flush()
			size := int(w.Size())
			err := w.Commit(func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.synced < size || f.lost {
					t.Errorf("fault at %d, record %d: reported a commit with %d bytes on the disk, want %d", at, n, f.synced, size)
				}
				done <- n
			})
			for err == nil && n%2 == 0 && len(done) < n/2 && w.Err() == nil {
				runtime.Gosched() // until the commit is reported or fails
			}
		}))
		_, err := playOn(t, g, h, log, 20)
		closed := w.Close()
		told += len(done)
		if f.broken {
			failed++
			if closed == nil || f.syncs > 0 {
				t.Errorf("fault at %d: got %v, closed with %v after %d more syncs", at, err, closed, f.syncs)
			}
		} else if err != nil || closed != nil || f.synced != len(f.data) {
			t.Errorf("fault at %d: got %v and %v, %d of %d bytes are on the disk", at, err, closed, f.synced, len(f.data))
		}
	}
	if failed < 40 || told < 200 {
		t.Errorf("%d faults, %d reported commits", failed, told)
	}
}

func TestParseDurability(t *testing.T) {
	for _, d := range []replay.Durability{replay.SyncNone, replay.SyncInterval, replay.SyncFrame} {
		if got, err := replay.ParseDurability(d.String()); got != d || err != nil {
			t.Errorf("%v: got %v, %v", d, got, err)
		}
	}
	for _, name := range []string{"", "commit", "Frame"} {
		if got, err := replay.ParseDurability(name); err == nil {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

// The sealed file replaces the open one, or nothing changes if sealing is interrupted or the open file is torn or
// missing.
func TestSealFile(t *testing.T) {
	g, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	dir := t.TempDir()
	path := filepath.Join(dir, "match.ssr")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name string
		file []byte
		ctx  context.Context
		want error
	}{
		{"interrupted", file, over, context.Canceled},
		{"torn", file[:len(file)-1], t.Context(), &replay.DamageError{}},
		{"nothing", nil, t.Context(), &replay.DamageError{}},
	} {
		if err := os.WriteFile(path, row.file, 0o640); err != nil {
			t.Fatal(err)
		}
		err := replay.SealFile(row.ctx, path, replay.WriterOptions{SegmentTicks: 50})
		var damage *replay.DamageError
		if !errors.Is(err, row.want) && !errors.As(err, &damage) {
			t.Errorf("%s: got %v, want %T", row.name, err, row.want)
		}
		onlyFile(t, path, row.file)
	}
	if err := os.WriteFile(path, file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := replay.SealFile(t.Context(), path, replay.WriterOptions{SegmentTicks: 50}); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, sealed(t, file, replay.WriterOptions{SegmentTicks: 50}))
	b, _ := os.ReadFile(path)
	if v := verifyBytes(t, g, b); v.Ticks != 205 || !v.Ended {
		t.Errorf("%+v", v)
	}
	if err := replay.SealFile(t.Context(), path+"x", replay.WriterOptions{SegmentTicks: 50}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}

// Windows neither renames nor replaces an open file, so both files are closed before the sealed one gets the name.
func TestSealClosesFirst(t *testing.T) {
	_, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	part, err := os.Create(path + ".part")
	if err != nil {
		t.Fatal(err)
	}
	err = replay.SealOver(t.Context(), path, opened, part, replay.WriterOptions{}, func(from, to string) error {
		for _, f := range []*os.File{opened, part} {
			if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s is open when it is renamed or replaced", filepath.Base(f.Name()))
			}
		}
		return replay.Replace(from, to)
	})
	if err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, sealed(t, file, replay.WriterOptions{}))
}

// onlyFile checks that a folder holds only one file, with the wanted contents.
func onlyFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("got %v, %v, want one file", all, err)
	}
}

func ExampleWriter_WriteBehind() {
	file := &faultyFile{} // or an *os.File
	w := replay.NewWriter(file, replay.WriterOptions{Durability: replay.SyncNone})
	if err := w.WriteBehind(); err != nil {
		fmt.Println(err)
	}
	play(w)
	fmt.Println(w.Flush()) // at once, also if the disk does not answer
	fmt.Println(w.Await(context.Background(), w.Size()), w.Backlog().Bytes)
	fmt.Println(w.Close())
	// Output:
	// <nil>
	// <nil> 0
	// <nil>
}

func ExampleWriter_Commit() {
	file := &faultyFile{} // or an *os.File
	w := replay.NewWriter(file, replay.WriterOptions{Durability: replay.SyncCommit})
	play(w)
	safe := make(chan bool)
	if err := w.Commit(func() { safe <- true }); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-safe, file.synced == len(file.data))
	fmt.Println(w.Close())
	// Output:
	// true true
	// <nil>
}
