package assets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Folder is a folder with assets. It is safe for concurrent use, also by several programs.
type Folder struct {
	Dir string

	// MaxBytes makes the folder a cache: while its assets have more bytes in all, Write removes the one that was read the
	// longest ago. 0 means no limit.
	MaxBytes int64
}

// Read returns the content of an asset. The error is a [*record.AssetError]; it wraps [record.ErrNoAsset] if the folder does
// not have the asset, and [record.ErrAssetContent] if its file is damaged.
func (f Folder) Read(a record.Asset) ([]byte, error) {
	if err := a.Check(); err != nil { // the sum becomes a file name
		return nil, err
	}
	path := f.path(a)
	b, err := readFile(path, int64(a.Size))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: not in the folder %s", record.ErrNoAsset, f.Dir)
	}
	if err != nil {
		return nil, &record.AssetError{Asset: a, Err: err}
	}
	if err := a.CheckContent(b); err != nil {
		return nil, err
	}
	if f.MaxBytes > 0 {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // otherwise it is only removed earlier
	}
	return b, nil
}

// readFile reads a file, and at most one byte more than size.
func readFile(path string, size int64) ([]byte, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size+1))
}

// Write stores the content of an asset, and replaces a damaged file. It makes the folder if there is none. Nothing is stored if
// the content is wrong.
func (f Folder) Write(a record.Asset, content []byte) error {
	if err := a.Check(); err != nil {
		return err
	}
	if err := a.CheckContent(content); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return &record.AssetError{Asset: a, Err: err}
	}
	if err := files.Replace(f.path(a), func(to *os.File) error {
		_, err := to.Write(content)
		return err
	}); err != nil {
		return &record.AssetError{Asset: a, Err: err}
	}
	if f.MaxBytes > 0 {
		f.shrink(a.SHA256)
	}
	return nil
}

// Add stores a content under a name of its own, and returns its asset.
func (f Folder) Add(name string, content []byte) (record.Asset, error) {
	a, err := record.NewAsset(name, content)
	if err == nil {
		err = f.Write(a, content)
	}
	return a, err
}

func (f Folder) path(a record.Asset) string { return filepath.Join(f.Dir, a.SHA256) }

// shrink removes files until the others fit, but not the one of a name. It touches only files with the name of a sum.
func (f Folder) shrink(keep string) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return
	}
	var all []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if !e.Type().IsRegular() || !record.IsAssetSum(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise it was removed
			all = append(all, info)
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		if total <= f.MaxBytes {
			return
		}
		if info.Name() != keep && os.Remove(filepath.Join(f.Dir, info.Name())) == nil {
			total -= info.Size()
		}
	}
}
