//go:build !js

package archive

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
)

// A Folder is a [Store] in a folder of this machine.
type Folder struct{ dir string }

// OpenFolder makes a folder, if it does not exist, and returns it as a store.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Folder{dir}, nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

// Put implements [Store]. On the same file system the file is renamed. Otherwise it is copied and has its name when the
// copy is complete; the caller removes the original.
func (f *Folder) Put(ctx context.Context, name, path string) error {
	return f.put(ctx, name, path, os.Rename)
}

func (f *Folder) put(ctx context.Context, name, path string, rename func(from, to string) error) error {
	if err := syncFile(path); err != nil { // before another name, or a crash could leave it empty
		return err
	}
	if info, err := os.Lstat(f.path(name)); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no file", ErrRefused, f.path(name))
	}
	if rename(path, f.path(name)) == nil {
		return syncFolder(f.dir) // the old name may come back in a crash, which is harmless
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return f.write(name, info.ModTime(), func(to io.Writer) error {
		n, err := io.Copy(to, &interruptible{ctx, from})
		if err == nil && n != info.Size() {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// Write implements [Store].
func (f *Folder) Write(_ context.Context, name string, content []byte) error {
	return f.write(name, time.Now(), func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// write makes a file that has its name only when it is complete and on the disk.
func (f *Folder) write(name string, written time.Time, fill func(io.Writer) error) error {
	part, err := os.CreateTemp(f.dir, "."+name+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // fails after the rename
	err = fill(part)
	if err == nil {
		err = part.Sync()
	}
	if cerr := part.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chtimes(part.Name(), written, written)
	}
	if err == nil {
		err = os.Rename(part.Name(), f.path(name))
	}
	if err != nil {
		return err
	}
	return syncFolder(f.dir)
}

// Open implements [Store].
func (f *Folder) Open(_ context.Context, name string) (io.ReadSeekCloser, error) {
	file, err := files.OpenNoFollow(f.path(name))
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Delete implements [Store].
func (f *Folder) Delete(_ context.Context, name string) error {
	if err := os.Remove(f.path(name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// List implements [Store]. It removes parts that a crash has left.
func (f *Folder) List(ctx context.Context, each func(Object) error) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() { // it is gone, or not ours
			continue
		}
		if strings.HasPrefix(e.Name(), ".") {
			if strings.HasSuffix(e.Name(), ".part") && time.Since(info.ModTime()) > partAge {
				os.Remove(f.path(e.Name()))
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(Object{e.Name(), info.Size(), info.ModTime().UTC()}); err != nil {
			return err
		}
	}
	return nil
}

// partAge is the age at which an incomplete file belongs to no running copy.
const partAge = 24 * time.Hour

// An interruptible is a file that cannot be read after ctx has ended.
type interruptible struct {
	ctx context.Context
	*os.File
}

func (r *interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.File.Read(b)
}

// syncFile brings the content of a file to the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs only files that are open for writing
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// syncFolder makes the names in a folder survive a crash of the machine, where the system can do that.
func syncFolder(dir string) error {
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
