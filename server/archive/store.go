//go:build !js

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/server"
)

// A Store keeps files by their names. Each method is safe for concurrent use. A file that does not exist is
// [fs.ErrNotExist].
type Store interface {
	// Put stores the file at a path. When it returns nil, the store has the whole file, also after a crash. The file at
	// the path may be gone. After an error it is still there. Put replaces a file of the same name.
	Put(ctx context.Context, name, path string) error

	// Write stores bytes as Put does.
	Write(ctx context.Context, name string, content []byte) error

	// Open opens a file. Its size is where it ends.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)

	// Delete removes a file, if it exists.
	Delete(ctx context.Context, name string) error

	// List calls f with every file until f returns an error.
	List(ctx context.Context, f func(Object) error) error
}

// A Journal is a [Store] that knows what has changed in it, so that an [Archive] need not list it again and again.
type Journal interface {
	Store

	// Mark returns a mark of what the store has now.
	Mark(ctx context.Context) (string, error)

	// Changes calls f with each file that was stored or deleted since a mark, in the order of their last changes, until f
	// returns an error. Its error is ErrMark for a mark that the store does not know, for example because it was restored.
	Changes(ctx context.Context, mark string, f func(Change) error) error
}

// A Cleaner is a [Store] in which crashes leave what is no file but takes room.
type Cleaner interface {
	Store

	// Clean removes what is certainly of no use, and returns how much that was. An [Archive] that follows others calls it at its
	// start and then once a day.
	Clean(ctx context.Context) (removed int, err error)
}

// A Change says that a file was stored or deleted.
type Change struct {
	Object
	Deleted bool   // only the name of the object is known then
	Mark    string // of the store after this change
}

// ErrRefused is wrapped by the errors of a [Store] that does not take a file and will not take it later either, such as one that is
// larger than it allows. The file is set aside and the others are stored. Any other error is of a store that is away.
var ErrRefused = errors.New("archive: the file is refused")

// ErrMark: what has changed since then is not known, so the store must be listed again.
var ErrMark = errors.New("archive: the store does not know this mark")

// An Object is a file in a [Store].
type Object struct {
	Name      string
	SizeBytes int64
	Written   time.Time
}

// fileName is the form of the names of all files in an archive. They are names in folders and in URLs.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}\.(ssr|zip|html)$`)

// kindOf returns the kind of a file by its name, or "". Bundles and pages have the name of a replay in theirs; other files of their kinds
// are somebody else's.
func kindOf(name string) string {
	if !fileName.MatchString(name) || filepath.Ext(name) != ".ssr" && server.ReplayOf(name) == "" {
		return ""
	}
	switch filepath.Ext(name) {
	case ".ssr":
		return kindReplay
	case ".zip":
		return kindBundle
	}
	return kindPage
}

// The kinds of files.
const (
	kindReplay = "replay"
	kindBundle = "bundle"
	kindPage   = "page"
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
		return files.SyncFolder(f.dir) // the old name may come back in a crash, which is harmless
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
		n, err := io.Copy(to, &files.Interruptible{File: from, Context: ctx})
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
	err := files.Replace(f.path(name), func(part *os.File) error {
		err := fill(part)
		if err == nil {
			err = part.Sync() // before it looks old, see List
		}
		if err == nil {
			err = os.Chtimes(part.Name(), written, written) // before it has its name
		}
		return err
	})
	if err != nil {
		return err
	}
	return files.SyncFolder(f.dir)
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
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".part") { // incomplete, or not ours
			if partName.MatchString(e.Name()) && time.Since(info.ModTime()) > partAge {
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

// partName is the form of the names of incomplete files.
var partName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*\.(ssr|zip|html|json)\.[0-9]+\.part$`)

// partAge is the age at which an incomplete file belongs to no running copy.
const partAge = 24 * time.Hour

// syncFile brings the content of a file to the disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs only files that are open for writing
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// A pause is the time until the next attempt: longer and longer after failures.
type pause struct{ first, longest, now time.Duration }

func (p *pause) reset() { p.now = 0 }

func (p *pause) next() time.Duration {
	p.now = min(max(2*p.now, p.first), p.longest)
	return p.now/2 + rand.N(p.now/2+1)
}

// sleep waits for a time, or for a value on wake, which may be nil.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// Time limits of what the archive asks of the store, so that one that hangs counts as one that is away.
const (
	askTime  = time.Minute // of a request without a replay in it, and of the next answer in a list
	slowest  = 64 << 10    // bytes per second of a file
	userTime = 10 * time.Second
)

// timeFor is how long a request that moves some bytes may take.
func timeFor(sizeBytes int64) time.Duration {
	return askTime + time.Duration(sizeBytes/slowest)*time.Second
}

// within returns the context of a request that moves some bytes.
func within(ctx context.Context, sizeBytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, timeFor(sizeBytes))
}
