package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// A faultyFile is a file on a disk that fails at one operation.
type faultyFile struct {
	mu     sync.Mutex
	data   []byte // as in the operating system's cache
	synced int    // bytes that survive a power cut
	ops    int
	failAt int    // the operation that fails, from 1 on
	fault  string // the kind of failure
	broken bool   // it has failed
	lost   bool   // a sync has failed
	syncs  int    // after the failure
}

func (f *faultyFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := len(p), error(nil)
	if f.ops++; f.ops == f.failAt {
		switch f.fault {
		case "torn write":
			n, err = len(p)/2, syscall.EIO
		case "short write":
			n = len(p) - 1
		case "full":
			n, err = len(p)/3, syscall.ENOSPC
		case "EIO once":
			n, err = 0, syscall.EIO
		}
		f.broken = f.fault != "slow"
	}
	f.data = append(f.data, p[:n]...)
	return n, err
}

func (f *faultyFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost {
		f.syncs++
	}
	if f.ops++; f.ops == f.failAt {
		switch f.fault {
		case "EIO once", "torn write", "full":
			f.broken, f.lost = true, true
			return syscall.EIO
		case "slow":
			f.mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			f.mu.Lock()
		}
	}
	f.synced = len(f.data)
	return nil
}

// playOn plays ticks into a log until it fails, and returns the last tick that the log accepted.
func playOn(t *testing.T, g *lockstep.Game, h *lockstep.Header, log lockstep.Log, ticks int) (lockstep.Tick, error) {
	t.Helper()
	c, err := coordinator.New(g, h, log, coordinator.Options{})
	if err != nil {
		return 0, err
	}
	payloads := g.NewPayloads()
	c.Join(0)
	for i := range ticks {
		kind, b, err := payloads.Encode(&walk{Dot: uint8(i), X: int8(i % 100), Y: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.Submit(0, lockstep.Sequence(i+1), kind, b)
		if _, err := c.Tick(); err != nil {
			return lockstep.Tick(i), err
		}
	}
	return lockstep.Tick(ticks), c.End("done")
}

// After any failure of any operation the match stops, the error stays, no sync is tried again, and the file is valid up
// to where it is torn. With a sync for each frame, acknowledged ticks survive a power cut.
func TestFaults(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	for _, d := range []replay.Durability{replay.SyncFrame, replay.SyncInterval, replay.SyncNone} {
		for _, fault := range []string{"torn write", "short write", "full", "EIO once", "slow"} {
			failed := 0
			step := 1
			if testenv.Small(t) {
				step = 3
			}
			if fault == "slow" {
				step = 40
			}
			for at := 1; at <= 130; at += step {
				f := &faultyFile{failAt: at, fault: fault}
				w := replay.NewWriter(f, replay.WriterOptions{FlushTicks: 1, Durability: d, SyncEvery: time.Nanosecond})
				acked, err := playOn(t, g, h, w, 50)
				closed := w.Close()
				if !f.broken {
					if err != nil || closed != nil {
						t.Fatalf("%d %s at %d: got %v and %v without a fault", d, fault, at, err, closed)
					}
					if v := verifyBytes(t, g, f.data); v.Ticks != 50 || !v.Ended {
						t.Fatalf("%d %s at %d: %+v", d, fault, at, v)
					}
					continue
				}
				failed++
				if closed == nil || fault == "full" && errors.Is(closed, syscall.ENOSPC) != errors.Is(closed, replay.ErrDiskFull) {
					t.Fatalf("%d %s at %d: got %v, closed with %v", d, fault, at, err, closed)
				}
				if again := w.Append(nil); again == nil || f.syncs > 0 {
					t.Fatalf("%d %s at %d: appended with %v after the fault, %d syncs", d, fault, at, again, f.syncs)
				}
				if v := verifyBytes(t, g, f.data[:f.synced]); d == replay.SyncFrame && v.Ticks < acked {
					t.Fatalf("%d %s at %d: %d ticks after a power cut, want the %d that were acknowledged", d, fault, at, v.Ticks, acked)
				}
				for _, cut := range []int{f.synced + (len(f.data)-f.synced)/2, len(f.data)} { // a part of the unsynced bytes
					if v := verifyBytes(t, g, f.data[:cut]); v.Differed > 0 {
						t.Fatalf("%d %s at %d: %+v", d, fault, at, v)
					}
				}
			}
			if (failed == 0) != (fault == "slow") {
				t.Errorf("%d %s: %d faults", d, fault, failed)
			}
		}
	}
}

// verifyBytes verifies a file that may be torn at its end but must not be damaged otherwise.
func verifyBytes(t *testing.T, g *lockstep.Game, b []byte) *replay.Verification {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	v := &replay.Verification{}
	if err == nil {
		v, err = replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	return v
}

// Sectors that were not synced are never read as a valid tail. After a power cut any combination of them may be missing
// or hold the disk's earlier contents.
func TestReorderedSectors(t *testing.T) {
	g, file, _ := recordMatch(t, 300, replay.WriterOptions{FlushTicks: 5})
	_, stale, _ := recordMatch(t, 290, replay.WriterOptions{FlushTicks: 5})
	const sector = 512
	synced := len(file) / sector / 2 * sector
	tail := (len(file) - synced + sector - 1) / sector
	for mask := range 1 << min(tail, 8) {
		b := bytes.Clone(file)
		for i := range tail {
			if mask>>(i%8)&1 == 1 {
				continue
			}
			at := synced + i*sector
			lost := b[at:min(at+sector, len(b))]
			clear(lost)
			if mask&1 == 0 && at+sector < len(stale) { // the end of an earlier match at the same offset
				copy(lost, stale[at+7:])
			}
		}
		v, err := replay.Verify(open(t, b), g, replay.VerifyOptions{Workers: 1})
		if bytes.Equal(b, file) != (err == nil) || v.Differed > 0 {
			t.Fatalf("sectors %b: got %v, %+v", mask, err, v)
		}
	}
}

// A slow disk does not delay the tick.
func TestSlowSync(t *testing.T) {
	g, h := newDots(t, lockstep.DefaultSettings(2))
	f := &faultyFile{failAt: 3, fault: "slow"} // the first sync, most likely
	slow := &slowSync{faultyFile: f, done: make(chan struct{})}
	w := replay.NewWriter(slow, replay.WriterOptions{FlushTicks: 1})
	if _, err := playOn(t, g, h, w, 100); err != nil {
		t.Fatal(err)
	}
	close(slow.done) // syncs return from now on
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if v := verifyBytes(t, g, f.data); !v.Ended || f.synced != len(f.data) {
		t.Errorf("%+v, %d of %d bytes synced", v, f.synced, len(f.data))
	}
}

// A slowSync is a file whose syncs block until done is closed.
type slowSync struct {
	*faultyFile
	done chan struct{}
}

func (f *slowSync) Sync() error {
	<-f.done
	return f.faultyFile.Sync()
}

func ExampleDurability() {
	file := &faultyFile{}
	w := replay.NewWriter(file, replay.WriterOptions{Durability: replay.SyncFrame})
	play(w)
	fmt.Println(file.synced == len(file.data), w.Close())
	// Output: true <nil>
}
