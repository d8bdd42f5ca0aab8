// Package files opens and writes files without trusting the folder that they are in: other users may have put links,
// pipes and files of theirs there.
//
//	f, err := files.Open(name)                   // a name that the user gave: links are followed
//	f, err := files.OpenNoFollow(name)           // a name that was found in a folder
//	err := files.Create(name, write)             // a new file, or none
//	err := files.Replace(name, write)            // whatever has the name
//	err := files.PrivateFolder(name)             // a folder for what is read again later
//	bytes, known := files.Free(name)             // the room on the disk of a folder
//
// Every file that this package writes has mode 0600, and has its name only when it is complete. Systems without modes
// or owners ignore them.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// An irregularError reports a name of something other than a regular file. It is [fs.ErrNotExist], because no file has that name.
type irregularError struct{ got string }

func (e *irregularError) Error() string { return fmt.Sprintf("got %s, want a regular file", e.got) }

func (e *irregularError) Is(target error) bool { return target == fs.ErrNotExist }

func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// Open opens a regular file for reading. It follows links, because the user may name one, and rejects anything else without waiting.
func Open(path string) (*os.File, error) { return open(path, os.Stat, noWait) }

// OpenNoFollow is Open for a name that does not come from the user. It also rejects links.
func OpenNoFollow(path string) (*os.File, error) { return open(path, os.Lstat, noWait|noFollow) }

func open(path string, look func(string) (fs.FileInfo, error), flags int) (*os.File, error) {
	if path == "" {
		return nil, errors.New("want the name of a file, got an empty one")
	}
	before, err := look(path)
	if err != nil {
		return nil, named(path, err)
	}
	if !before.Mode().IsRegular() {
		return nil, refused(path, before)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	// Another file may have taken the name meanwhile. It must be the same if the system cannot open a file without following links.
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || noFollow == 0 && !os.SameFile(before, info)) {
		err = refused(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// named returns err as an error of opening path, whichever step failed.
func named(path string, err error) error {
	var at *fs.PathError
	var moved *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &moved):
		err = moved.Err
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

func refused(path string, info fs.FileInfo) error {
	e := &irregularError{kind(info.Mode())}
	if info.Mode().IsRegular() {
		e.got = "another file than a moment before"
	}
	return &fs.PathError{Op: "open", Path: path, Err: e}
}

// Create writes a new file. Nothing may have its name.
func Create(path string, write func(*os.File) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return Replace(path, write)
}

// Replace writes a file in place of the one, or the link, with that name. After an error, the old file is unchanged.
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

// SyncFolder makes the names in a folder survive a crash of the machine, where the system can do that.
func SyncFolder(dir string) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// An Interruptible is a file that is neither read nor written after its context has ended. It has no other method of the file, as
// WriteTo would copy all of it.
type Interruptible struct {
	File    *os.File
	Context context.Context
}

// Read implements [io.Reader].
func (f *Interruptible) Read(p []byte) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// Write implements [io.Writer].
func (f *Interruptible) Write(p []byte) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
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
