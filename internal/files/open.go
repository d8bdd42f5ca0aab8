package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// An irregularError reports a name of something other than a regular file. It is [fs.ErrNotExist], because no file has
// that name.
type irregularError struct{ got string }

func (e *irregularError) Error() string { return fmt.Sprintf("got %s, want a regular file", e.got) }

func (e *irregularError) Is(target error) bool { return target == fs.ErrNotExist }

// kind describes what a name stands for.
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

// Open opens a regular file for reading. It follows links, because the user may name one. It rejects anything else
// without waiting, such as a pipe without a writer.
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
	// Another file may have taken the name in the meantime. It must be the same file if the system cannot open a file
	// without following links.
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
