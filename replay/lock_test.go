//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/replay"
)

// A file is locked as long as whoever made it has it open.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "match.ssr")
	f, err := replay.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if is, err := replay.Locked(other); !is || err != nil {
		t.Errorf("while it is written: got %v, %v, want true", is, err)
	}
	if err := replay.Lock(other); !errors.Is(err, replay.ErrLocked) {
		t.Errorf("a second lock: got %v, want %v", err, replay.ErrLocked)
	}
	f.Close()
	for range 2 { // the first one leaves no lock
		if is, err := replay.Locked(other); is || err != nil {
			t.Errorf("after it was closed: got %v, %v, want false", is, err)
		}
	}
	if err := replay.Lock(other); err != nil {
		t.Error(err)
	}
}

// A program that asks whether a file is locked has a shared lock for a moment,
// which keeps nobody from locking the file.
func TestLockWhileAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for range 10 {
		asking, f := open(), open()
		if err := syscall.Flock(int(asking.Fd()), syscall.LOCK_SH); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := replay.Lock(f); err != nil {
				t.Errorf("while somebody asks: %v", err)
			}
		})
		time.Sleep(2 * time.Millisecond)
		asking.Close()
		wait.Wait()
		f.Close()
	}
}
