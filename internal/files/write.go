package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a new file. Nothing may have its name.
func Create(path string, write func(*os.File) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return Replace(path, write)
}

// Replace writes a file in place of the one with that name: it replaces a link and does not follow it. After an error,
// the old file is unchanged.
func Replace(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // a new file of mode 0600
	if err != nil {
		return named(path, err)
	}
	defer os.Remove(f.Name()) // fails after the rename
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return named(path, err)
	}
	return nil
}

// PrivateFolder makes a folder that only its owner may enter. An existing one must be a folder, not a link, belong to
// the same user, and be writable by nobody else, so that nobody else can have put anything into it.
func PrivateFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	got := kind(info.Mode())
	if info.IsDir() {
		got = shared(info)
	}
	if got != "" {
		return &fs.PathError{Op: "mkdir", Path: path, Err: fmt.Errorf("got %s, want a folder of your own that only you may write to", got)}
	}
	return nil
}
