package replay_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/replay"
)

// lockEnv names the file that TestLockedByAnotherProcess locks when it runs as
// the other process.
const lockEnv = "SAMESTEP_LOCK_FILE"

// needLocks skips a test where replay.Lock does nothing.
func needLocks(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "openbsd", "netbsd", "dragonfly", "windows":
	default:
		t.Skip("no file locks on", runtime.GOOS)
	}
}

// checkLocked tests a file that is locked through another handle.
func checkLocked(t *testing.T, f *os.File) {
	t.Helper()
	if is, err := replay.Locked(f); !is || err != nil {
		t.Errorf("while it is locked: got %v, %v, want true", is, err)
	}
	if err := replay.Lock(f); !errors.Is(err, replay.ErrLocked) {
		t.Errorf("a second lock: got %v, want %v", err, replay.ErrLocked)
	}
}

// checkFree tests a file whose lock has ended, and locks it.
func checkFree(t *testing.T, f *os.File) {
	t.Helper()
	for range 2 { // the first one leaves no lock
		if is, err := replay.Locked(f); is || err != nil {
			t.Errorf("after its lock ended: got %v, %v, want false", is, err)
		}
	}
	if err := replay.Lock(f); err != nil {
		t.Error(err)
	}
}

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A file is locked until its creator closes it. Others can read it in the meantime.
func TestLocked(t *testing.T) {
	needLocks(t)
	path := filepath.Join(t.TempDir(), "match.ssr")
	f, err := replay.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("a match"); err != nil {
		t.Fatal(err)
	}
	other := openFile(t, path)
	checkLocked(t, other)
	if b, err := os.ReadFile(path); err != nil || string(b) != "a match" {
		t.Errorf("reading a locked file: got %q, %v", b, err)
	}
	f.Close()
	checkFree(t, other)
}

// A file is locked until the process that locked it exits or is killed.
func TestLockedByAnotherProcess(t *testing.T) {
	if path := os.Getenv(lockEnv); path != "" {
		f := openFile(t, path)
		fmt.Println("locked:", replay.Lock(f))
		time.Sleep(time.Minute) // until it is killed
	}
	needLocks(t)
	if testing.Short() {
		t.Skip("short: an emulated test cannot start itself again")
	}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestLockedByAnotherProcess$")
	cmd.Env = append(os.Environ(), lockEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "locked: <nil>" {
		t.Errorf("the other process: got %q, %v", line, err)
	}
	f := openFile(t, path)
	checkLocked(t, f)
	cmd.Process.Kill()
	cmd.Wait()
	checkFree(t, f)
}

// Lock succeeds while other programs query the lock, which takes a shared lock for a moment.
func TestLockWhileAsked(t *testing.T) {
	needLocks(t)
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		asking, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := replay.LockShared(asking); err != nil {
			t.Fatal(err)
		}
		if is, err := replay.Locked(openFile(t, path)); is || err != nil {
			t.Errorf("while somebody else asks: got %v, %v, want false", is, err)
		}
		f, done := openFile(t, path), make(chan error)
		go func() { done <- replay.Lock(f) }()
		time.Sleep(2 * time.Millisecond)
		asking.Close()
		if err := <-done; err != nil {
			t.Errorf("while somebody asks: %v", err)
		}
		f.Close()
	}
}
