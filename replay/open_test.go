package replay_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

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
