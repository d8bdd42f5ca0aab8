//go:build unix && !solaris && !aix

package files_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-49bee653/samestep/internal/files"
)

// plant fills a folder with one name of each kind.
func plant(t *testing.T) (in func(string) string) {
	t.Helper()
	dir := t.TempDir()
	in = func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	if err := errors.Join(
		os.WriteFile(in("file"), []byte("content"), 0o644), os.Mkdir(in("folder"), 0o700), syscall.Mkfifo(in("pipe"), 0o600),
		os.Symlink("file", in("link")), os.Symlink("pipe", in("link-to-pipe")), os.Symlink("link-to-itself", in("link-to-itself")), os.Symlink("folder", in("link-to-folder")),
	); err != nil {
		t.Fatal(err)
	}
	return in
}

// A copy from a file ends with the context: the copy uses no method that the file would give it.
func TestInterruptible(t *testing.T) {
	f, err := os.Open(plant(t)("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := io.Copy(io.Discard, &files.Interruptible{File: f, Context: ctx}); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %d bytes, %v", n, err)
	}
	if n, err := io.Copy(io.Discard, &files.Interruptible{File: f, Context: t.Context()}); n != 7 || err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

func TestOpen(t *testing.T) {
	in := plant(t)
	for _, x := range []struct{ name, follow, noFollow string }{ // what the error says; nothing if there is none
		{"file", "", ""},
		{"link", "", "got a link, want a regular file"},
		{"folder", "got a folder, want a regular file", "got a folder, want a regular file"},
		{"pipe", "got a pipe, want a regular file", "got a pipe, want a regular file"},
		{"link-to-pipe", "got a pipe, want a regular file", "got a link, want a regular file"},
		{"link-to-itself", "too many levels", "got a link, want a regular file"},
		{"socket", "got a socket, want a regular file", "got a socket, want a regular file"},
		{"nothing", "no such file", "no such file"},
	} {
		for _, way := range []struct {
			name string
			open func(string) (*os.File, error)
			want string
		}{{"follow", files.Open, x.follow}, {"no follow", files.OpenNoFollow, x.noFollow}} {
			f, err := way.open(in(x.name))
			if err == nil {
				f.Close()
			}
			if (err == nil) != (way.want == "") || err != nil && !strings.Contains(err.Error(), way.want) {
				t.Errorf("%s, %s: got %v, want %q", x.name, way.name, err, way.want)
			}
			if strings.Contains(way.want, "regular") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: %v is not %v", x.name, way.name, err, fs.ErrNotExist)
			}
		}
	}
}

// A file that is written has mode 0600, takes the place of a link instead of
// following it, and leaves everything as it was when writing fails.
func TestReplace(t *testing.T) {
	in := plant(t)
	write := func(f *os.File) error {
		_, err := f.WriteString("new")
		return err
	}
	failure := errors.New("failure")
	for _, name := range []string{"link", "link-to-pipe", "pipe", "new"} {
		before, _ := os.ReadDir(in("."))
		if err := files.Replace(in(name), func(f *os.File) error { return errors.Join(write(f), failure) }); !errors.Is(err, failure) {
			t.Errorf("%s: got %v, want %v", name, err, failure)
		}
		if after, _ := os.ReadDir(in(".")); len(after) != len(before) {
			t.Errorf("%s: a failure leaves %v", name, after)
		}
		if err := files.Replace(in(name), write); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		info, err := os.Lstat(in(name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: got mode %v, %v, want 0600", name, info.Mode(), err)
		}
	}
	if b, err := os.ReadFile(in("file")); string(b) != "content" {
		t.Errorf("the file that a link led to: got %q, %v", b, err)
	}
}

func TestCreate(t *testing.T) {
	in := plant(t)
	for _, name := range []string{"file", "link", "pipe", "folder", "link-to-itself"} {
		if err := files.Create(in(name), func(*os.File) error { return nil }); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: got %v, want %v", name, err, fs.ErrExist)
		}
	}
	if err := files.Create(in("new"), func(*os.File) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestPrivateFolder(t *testing.T) {
	in := plant(t)
	if err := errors.Join(os.Mkdir(in("shared"), 0o700), os.Chmod(in("shared"), 0o777), os.Mkdir(in("readable"), 0o755), os.Chmod(in("readable"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, want string }{
		{"new", ""}, {"new", ""}, {"deep/new", ""}, {"folder", ""}, {"readable", ""},
		{"shared", "got a folder of mode 0777, want"}, {"link-to-folder", "got a link, want"}, {"file", "got a file, want"}, {"pipe", "got a pipe, want"},
	} {
		err := files.PrivateFolder(in(x.name))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", x.name, err, x.want)
		}
	}
	for _, name := range []string{"new", "deep", "deep/new"} {
		if info, err := os.Stat(in(name)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: got %v, %v, want 0700", name, info.Mode(), err)
		}
	}
	if os.Geteuid() != 0 {
		return // nobody else can give folders away
	}
	if err := errors.Join(os.Mkdir(in("theirs"), 0o700), os.Chown(in("theirs"), 12345, -1)); err != nil {
		t.Skip(err)
	}
	if err := files.PrivateFolder(in("theirs")); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("a folder of another user: got %v", err)
	}
}
