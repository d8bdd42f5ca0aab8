//go:build !js

package module

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/experimental"
)

// maxCompiled is how many bytes the files of compiled modules in a cache may have.
const maxCompiled = 512 << 20

// compileHere compiles the module in this process.
func (r *Rules) compileHere(ctx context.Context, safe []byte) (err error) {
	if r.compiled, err = r.runtime.CompileModule(ctx, safe); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// load loads the module from the cache of the runtime, and compiles nothing: the error is context.Canceled if the cache has no code of
// this version of the compiler for this processor.
func (r *Rules) load(ctx context.Context, safe []byte) error {
	ended, end := context.WithCancel(experimental.WithCompilationWorkers(ctx, 2)) // several workers end with their context
	end()
	return r.compileHere(ended, safe)
}

// compileInto loads the module from the cache, or compiles it into that.
func (r *Rules) compileInto(ctx context.Context, module, safe []byte, o Options) error {
	load := func() error {
		if r.runtime == nil {
			if err := r.open(ctx, o); err != nil {
				return err
			}
		}
		return r.load(ctx, safe)
	}
	if !o.temporary {
		if err := load(); !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if o.Process != nil {
		return compileElsewhere(ctx, module, o, load)
	}
	if err := r.compileHere(ctx, safe); err != nil {
		return err
	}
	return shrink(o.Cache, maxCompiled)
}

// shrink removes the oldest files from a cache, until the files have at most some bytes. The youngest is kept.
func shrink(cache string, most int64) error {
	type file struct {
		path    string
		written time.Time
		size    int64
	}
	var all []file
	total := int64(0)
	err := filepath.WalkDir(cache, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return gone(err)
		}
		info, err := e.Info()
		if err == nil {
			all = append(all, file{path, info.ModTime(), info.Size()})
			total += info.Size()
		}
		return gone(err)
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b file) int { return a.written.Compare(b.written) })
	for i := 0; i < len(all)-1 && total > most; i++ {
		if err := gone(os.Remove(all[i].path)); err != nil {
			return err
		}
		total -= all[i].size
	}
	return nil
}

// gone returns err, or nil for a file that another process has removed.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
