package replay_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// If a file cannot be locked or its folder cannot be synced, the file is removed again.
func TestCreateFails(t *testing.T) {
	works := func(*os.File) error { return nil }
	fails := func(*os.File) error { return errFailing }
	for name, steps := range map[string][]func(*os.File) error{"lock": {fails, works}, "sync": {works, fails}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "match.ssr")
		if f, err := replay.CreateBy(path, steps...); f != nil || !errors.Is(err, errFailing) {
			t.Errorf("%s: got %v, %v, want %v", name, f, err, errFailing)
		}
		if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file of that name: got %v, want %v", err, fs.ErrExist)
	}
	if b, err := os.ReadFile(path); string(b) != "another" || err != nil {
		t.Errorf("the file that was there is changed: %q, %v", b, err)
	}
}

// bundleOf writes a bundle with a replay of any bytes.
func bundleOf(t *testing.T, bytes string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bundle.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := replay.WriteBundle(f, &lockstep.Header{}, &host.Evidence{}, strings.NewReader(bytes)); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, bytes []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The replay in a bundle is read like a replay file.
func TestOpen(t *testing.T) {
	_, file := exampleFile()
	for name, path := range map[string]string{"a replay": write(t, file), "a bundle": bundleOf(t, string(file))} {
		f, err := replay.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if bundle := f.Bundle() != nil; bundle != (name == "a bundle") || f.Path() != path {
			t.Errorf("%s: got a bundle: %t, path %s", name, bundle, f.Path())
		}
		for range 2 { // the file can be read several times
			h, err := f.Header()
			if err != nil || h.Game != "dots" {
				t.Fatalf("%s: got %v, %v", name, h, err)
			}
			if info, err := f.Info(); err != nil || info.Ticks != 100 || info.SizeBytes != int64(len(file)) {
				t.Fatalf("%s: got %+v, %v", name, info, err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	_, file := exampleFile()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(write(t, file), link); err != nil {
		t.Skip(err)
	}
	if _, err := replay.Open(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: got %v", err)
	}
	if _, err := replay.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("a folder: got %v", err)
	}
	if _, err := replay.OpenNoFollow(link); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("a link: got %v", err)
	}
	if _, err := replay.Open(write(t, []byte("PK\x03\x04"))); !errors.Is(err, replay.ErrBundle) {
		t.Errorf("half a bundle: got %v", err)
	}
	f, err := replay.Open(write(t, []byte("text")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Info()
	if !errors.Is(err, replay.ErrFormat) || info.Err != err {
		t.Errorf("text: got %+v, %v", info, err)
	}
	if _, err := f.Header(); !errors.Is(err, replay.ErrFormat) {
		t.Errorf("text: got %v", err)
	}
}

// The temporary file of a bundle's replay has no name, so it is gone however the program ends. Windows cannot remove an
// open file.
func TestUnpackedLeavesNothing(t *testing.T) {
	path := bundleOf(t, "replay")
	t.Setenv("TMPDIR", t.TempDir())
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("unpacked before it is read: %d files, %v", len(left), err)
	}
	content, size, err := f.Content()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(io.NewSectionReader(content, 0, size)); err != nil || string(b) != "replay" {
		t.Errorf("got %q, %v", b, err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); runtime.GOOS != "windows" && (err != nil || len(left) > 0) {
		t.Errorf("%d files have a name, %v", len(left), err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := content.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: got %v", err)
	}
}

// A converted file is read as what it was converted to, and stays as it is.
func TestConvert(t *testing.T) {
	_, file := exampleFile()
	path := write(t, []byte("lines"))
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refused := errors.New("refused")
	if err := f.Convert(func(_, _ *os.File) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
	if err := f.Convert(func(out, in *os.File) error {
		if b, err := io.ReadAll(in); string(b) != "lines" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		_, err := out.Write(file)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Info(); err != nil || info.Ticks != 100 || f.Path() != path {
		t.Errorf("got %+v, %v, path %s", info, err, f.Path())
	}
	if b, err := os.ReadFile(path); string(b) != "lines" || err != nil {
		t.Errorf("the file became %q, %v", b, err)
	}
}

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
