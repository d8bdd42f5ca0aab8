package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
)

// maxDenial is the largest file in that folder, in bytes: all bans of a match.
const maxDenial = 4 << 20

// A denialFolder is a folder with a file for each key. No other server writes to it.
type denialFolder struct {
	folder string
	live   string     // the folder with the logs of matches that are not over
	mu     sync.Mutex // held while files change
}

func (f *denialFolder) path(key string) string { return filepath.Join(f.folder, key+".json") }

// Put implements [Denials].
func (f *denialFolder) Put(key string, value []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	return files.Replace(f.path(key), func(to *os.File) error {
		_, err := to.Write(value)
		return err
	})
}

// Delete implements [Denials].
func (f *denialFolder) Delete(key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.remove(key)
}

func (f *denialFolder) remove(key string) error {
	if err := os.Remove(f.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Get implements [Denials]. A link or a folder with the name of a file denies nothing that could be read, and is an error.
func (f *denialFolder) Get(key string) ([]byte, error) {
	if _, err := os.Lstat(f.path(key)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	from, err := files.OpenNoFollow(f.path(key))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	value, err := io.ReadAll(io.LimitReader(from, maxDenial+1))
	if err == nil && len(value) > maxDenial {
		err = fmt.Errorf("%s: got more than %d bytes", f.path(key), maxDenial)
	}
	return value, err
}

// Watch implements [Denials].
func (f *denialFolder) Watch(saw func(key string, value []byte), _ func(string)) error {
	return f.each(func(key string, value []byte) error {
		saw(key, value)
		return nil
	})
}

// Sweep implements [Denials].
func (f *denialFolder) Sweep(stale func(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	logs, err := os.ReadDir(f.live) // with the lock, so that there is one of each match that has bans
	if err != nil {
		return err
	}
	live := func(match lockstep.MatchID) bool {
		return slices.ContainsFunc(logs, func(e fs.DirEntry) bool { return strings.Contains(e.Name(), "-"+match.String()[:8]+".ssr") })
	}
	return f.each(func(key string, value []byte) error {
		if !stale(key, value, time.Now(), live) {
			return nil
		}
		return f.remove(key)
	})
}

// each calls a function with all that is in the folder.
func (f *denialFolder) each(do func(key string, value []byte) error) error {
	all, err := os.ReadDir(f.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range all {
		key, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		value, err := f.Get(key)
		if err == nil && value != nil { // it was not deleted meanwhile
			err = do(key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
