package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A File is an open replay file, or an open bundle with a replay in it. It belongs to one goroutine.
type File struct {
	path   string
	file   *os.File
	bundle *Bundle
	inner  *os.File // the replay in the bundle, or the converted one; nil until it is needed
}

// Open opens a replay file or a bundle, of regular files only. It reads nothing of a replay yet. The error of a bundle wraps [ErrBundle].
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

// Content returns the bytes of the replay, and their number now: a running match grows. That in a bundle becomes a temporary file.
func (f *File) Content() (io.ReaderAt, int64, error) {
	if f.bundle != nil && f.inner == nil { // its replay may be too large for the memory
		if err := f.temporary(func(inner *os.File) error {
			return f.bundle.unpack(inner, &f.bundle.left, bundleReplay, maxBundleReplay)
		}); err != nil {
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

// Convert replaces the content by what convert writes to out, a temporary file. The file itself does not change.
func (f *File) Convert(convert func(out, in *os.File) error) error {
	return f.temporary(func(out *os.File) error { return convert(out, f.file) })
}

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

// The versions that this package writes: of replay files, and of desync bundles.
const (
	Version       = version
	BundleVersion = bundleFormat
)

// Create makes and locks the file of a new match; see [Lock]. Nothing may have that name yet, and the name survives a crash of the
// machine. Only the owner can read the file, because it will contain names and chat. After an error there is no file.
func Create(path string) (*os.File, error) {
	return create(path, Lock, func(*os.File) error { return syncDir(path) })
}

// create makes a file and takes steps to secure it. If one fails, it removes the file again.
func create(path string, steps ...func(*os.File) error) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // it contains names and chat
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	for _, step := range steps {
		if err := step(f); err != nil {
			f.Close()
			os.Remove(path)
			return nil, err
		}
	}
	return f, nil
}

// syncDir makes the name of a file survive a crash of the machine, if the system can do that.
func syncDir(path string) error {
	if err := files.SyncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// Replace gives a complete file the path of another one. At any moment, also after a crash, one of the two is there.
func Replace(file, path string) error {
	if err := os.Rename(file, path); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return syncDir(path)
}

// Lock keeps other programs from locking a file until it is closed or its program ends, so that no two servers continue one match. It
// returns [ErrLocked] if another program has the lock. It does nothing where the system or the file system has no such locks.
func Lock(f *os.File) error {
	err := tryLock(f, true)
	for range lockTries {
		if err != ErrLocked {
			break
		}
		time.Sleep(lockPause)
		err = tryLock(f, true)
	}
	if err != nil {
		return fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return nil
}

// Locked holds a shared lock for a moment, so Lock tries again.
const (
	lockTries = 100
	lockPause = 5 * time.Millisecond
)

// Locked reports whether a program has a file locked: its match is running. It is false where the system has no such locks.
func Locked(f *os.File) (bool, error) {
	err := tryLock(f, false) // shared, so that two calls do not see each other
	if err == nil {
		err = unlock(f)
	}
	if err != nil && err != ErrLocked {
		return false, fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return err == ErrLocked, nil
}

// Games are the games whose matches a program can simulate, such as two builds of one game.
type Games []*lockstep.Game

// OfFile is Of for the match in a file.
func (g Games) OfFile(f *File) (*lockstep.Game, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	return g.Of(h)
}

// Of returns the game of a match: the one with the identity in the header. Without one, the error names the match's game,
// and wraps a [*lockstep.IdentityError] of the game with the same name, or else one with the names of all.
func (g Games) Of(h *lockstep.Header) (*lockstep.Game, error) {
	var reason error = &lockstep.IdentityError{Field: "game", Got: h.Game, Want: "none"}
	known := false // by name
	for i, one := range g {
		err := one.CheckIdentity(h)
		if err == nil {
			return one, nil
		}
		if i == 0 || one.Name() == h.Game {
			reason, known = err, known || one.Name() == h.Game
		}
	}
	if e := (*lockstep.IdentityError)(nil); errors.As(reason, &e) && e.Field == "game" && len(g) > 0 {
		reason = &lockstep.IdentityError{Field: e.Field, Got: e.Got, Want: g.names()}
	}
	if h.Engine == record.Engine {
		reason = fmt.Errorf("%w; use a program with game %.128q, build %.128q, state schema %s", reason, h.Game, h.Build, checksum.FormatHash(xxhash.Sum64(h.StateSchema)))
		if !known {
			reason = fmt.Errorf("%w: its own, or a module of its rules", reason)
		}
	}
	return nil, reason
}

// names returns the names of the games, such as "chess or duel". Builds of one game have one name.
func (g Games) names() string {
	var names []string
	for _, one := range g {
		if !slices.Contains(names, one.Name()) {
			names = append(names, one.Name())
		}
	}
	return strings.Join(names, " or ")
}
