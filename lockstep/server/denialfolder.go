package server

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/internal/files"
)

// denialsFolder is the folder in Options.Dir with the bans and revocations of a server that has no other Denials.
const denialsFolder = "denials"

// maxDenial is the largest file in that folder, in bytes: all bans of a match.
const maxDenial = 4 << 20

// A denialFolder is a folder with a file for each key. No other server writes to it.
type denialFolder string

func (f denialFolder) path(key string) string { return filepath.Join(string(f), key+".json") }

// Put implements [Denials].
func (f denialFolder) Put(key string, value []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return files.Replace(f.path(key), func(to *os.File) error {
		_, err := to.Write(value)
		return err
	})
}

// Delete implements [Denials].
func (f denialFolder) Delete(key string) error {
	if err := os.Remove(f.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Get implements [Denials].
func (f denialFolder) Get(key string) ([]byte, error) {
	from, err := files.OpenNoFollow(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(io.LimitReader(from, maxDenial))
}

// Watch implements [Denials].
func (f denialFolder) Watch(saw func(key string, value []byte), _ func(string)) error {
	all, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range all {
		key, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		value, err := f.Get(key)
		if err != nil {
			return err
		}
		saw(key, value)
	}
	return nil
}
