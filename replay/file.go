package replay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-49bee653/samestep/internal/files"
)

// The versions that this package writes: of replay files, and of desync bundles.
const (
	Version       = version
	BundleVersion = bundleFormat
)

// Create makes and locks the file of a new match; see [Lock]. Nothing may have that name yet, and the name survives a
// crash of the machine. Only the owner can read the file, because it will contain names and chat. After an error there
// is no file.
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
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
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

// SealFile replaces the open file of a match that is over by its sealed form: see [Seal]. At any moment, also after a
// crash, one of the two has the name and is whole, and readers of the open file can read on. SealFile first reads the
// sealed form back and compares its [ContentHash]. When ctx ends, the open file stays.
func SealFile(ctx context.Context, path string, o WriterOptions) error {
	open, err := files.Open(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer open.Close()
	sealed, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer os.Remove(sealed.Name()) // unless it was renamed
	defer sealed.Close()
	return sealOver(ctx, path, open, sealed, o, Replace)
}

// sealOver writes the sealed form of an open file, closes both files, and replaces the open one by the sealed one.
func sealOver(ctx context.Context, path string, open, sealed *os.File, o WriterOptions, replace func(file, path string) error) error {
	info, err := open.Stat()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if err := sealInto(ctx, sealed, open, info.Size(), o); err != nil {
		return err
	}
	if err := sealed.Chmod(info.Mode().Perm()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	// Windows neither renames an open file nor replaces one.
	if err := errors.Join(sealed.Close(), open.Close()); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return replace(sealed.Name(), path)
}

// sealInto writes the sealed form of an open file, and compares their content.
func sealInto(ctx context.Context, sealed, open *os.File, size int64, o WriterOptions) error {
	r, err := NewReader(open, size)
	if err != nil {
		return err
	}
	w := NewWriter(&interruptible{sealed, ctx}, o)
	if err := Seal(w, r); err != nil {
		return err
	}
	want, _, err := HashContent(r, WholeMatch)
	if err != nil {
		return err
	}
	if r, err = NewReader(sealed, w.Size()); err != nil {
		return err
	}
	got, _, err := HashContent(r, WholeMatch)
	if err == nil && got != want {
		err = fmt.Errorf("replay: %w: sealed, the match has the content hash %s, want %s", ErrCorrupt, got, want)
	}
	return err
}

// SignFile replaces a file by the same one with a signature: see [Sign]. At any moment, also after a crash, one of the two
// has the name and is whole.
func SignFile(path string, key ed25519.PrivateKey) error {
	if err := files.Replace(path, func(signed *os.File) error {
		from, err := files.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		info, err := from.Stat()
		if err != nil {
			return err
		}
		r, err := NewReader(from, info.Size())
		if err != nil {
			return err
		}
		return Sign(signed, r, key)
	}); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return syncDir(path)
}

// An interruptible is a file that refuses writes after ctx has ended.
type interruptible struct {
	*os.File
	ctx context.Context
}

func (f *interruptible) Write(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}
