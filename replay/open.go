package replay

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A File is an open replay file, or an open bundle with a replay in it. It belongs to one goroutine.
type File struct {
	path   string
	file   *os.File
	bundle *Bundle
	inner  *os.File // the replay in the bundle, or the converted one; nil until it is needed
}

// Open opens a replay file or a bundle. It accepts regular files only. It reads nothing of a replay yet, so a file that
// is no replay is refused by [File.Reader]. The error of a bundle wraps [ErrBundle] or [ErrLimit].
func Open(path string) (*File, error) { return openFile(files.Open, path) }

// OpenNoFollow is [Open] for a name that was found in a folder: it refuses a link.
func OpenNoFollow(path string) (*File, error) { return openFile(files.OpenNoFollow, path) }

func openFile(open func(string) (*os.File, error), path string) (*File, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, file: file}
	if err := f.unzip(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// unzip opens the bundle if the file is one.
func (f *File) unzip() error {
	var head [4]byte
	if n, err := f.file.ReadAt(head[:], 0); err != nil && err != io.EOF || string(head[:n]) != "PK\x03\x04" {
		return nil // the Reader reports what is wrong
	}
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	f.bundle, err = OpenBundle(f.file, info.Size())
	return err
}

// Path returns the path given to Open.
func (f *File) Path() string { return f.path }

// Bundle returns the bundle, or nil for a replay file.
func (f *File) Bundle() *Bundle { return f.bundle }

// Close closes the file.
func (f *File) Close() error {
	err := f.file.Close()
	if f.inner != nil {
		err = errors.Join(err, f.inner.Close())
		os.Remove(f.inner.Name()) // where that was not possible before
	}
	return err
}

// Content returns the bytes of the replay, and their number now: a replay that is being written grows. The replay in a
// bundle is unpacked into a temporary file.
func (f *File) Content() (io.ReaderAt, int64, error) {
	if f.bundle != nil && f.inner == nil { // its replay may be too large for the memory
		if err := f.temporary(func(inner *os.File) error { return f.bundle.CopyReplay(inner, maxBundleReplay) }); err != nil {
			return nil, 0, err
		}
	}
	file := f.file
	if f.inner != nil {
		file = f.inner
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("replay: %w", err)
	}
	return file, info.Size(), nil
}

// Convert replaces the content by what convert writes for it to out, a temporary file: the methods of f then read that. The
// file itself does not change.
func (f *File) Convert(convert func(out, in *os.File) error) error {
	return f.temporary(func(out *os.File) error { return convert(out, f.file) })
}

// temporary makes a temporary file with the content.
func (f *File) temporary(write func(*os.File) error) error {
	inner, err := os.CreateTemp("", "samestep-*.ssr")
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	os.Remove(inner.Name()) // so nothing is left over, however the program ends; Windows refuses it
	if err := write(inner); err != nil {
		inner.Close()
		os.Remove(inner.Name())
		return err
	}
	f.inner = inner
	return nil
}

// Reader returns a [Reader] at the beginning of the replay. Each call returns another one.
func (f *File) Reader() (*Reader, error) {
	content, size, err := f.Content()
	if err != nil {
		return nil, err
	}
	return NewReader(content, size)
}

// Header returns the header of the match.
func (f *File) Header() (*lockstep.Header, error) {
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	rec, err := r.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("no header: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return rec.Header, nil
}

// Info reads the whole replay, see [ReadInfo]. The Info is never nil: without a header, it has the error.
func (f *File) Info() (*Info, error) {
	r, err := f.Reader()
	if err != nil {
		return &Info{Err: err}, err
	}
	return ReadInfo(r)
}
