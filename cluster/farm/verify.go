//go:build !js

package farm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/replay"
)

// A crashError is a panic of the rules, or of the engine.
type crashError struct {
	what  any
	stack []byte
}

func (e *crashError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.what, e.stack) }

// verify fetches a file and verifies it. The error says nothing about the file, or that it is missing, or is a crashError.
func (w *worker) verify(ctx context.Context, name string) (Result, error) {
	f, err := w.fetch(ctx, name)
	if err != nil {
		return Result{}, err
	}
	path := f.Name()
	defer os.Remove(path) // where that was not possible before
	defer f.Close()
	file, err := replay.Open(path)
	os.Remove(path) // so nothing is left over, however the program ends; Windows refuses it
	if replay.ClassOf(err) == "" {
		return Result{}, err
	}
	if err != nil {
		return newResult(&desync.Verification{Err: err}), nil
	}
	defer file.Close()
	from := time.Now()
	v, err := w.simulate(file)
	if err != nil {
		return Result{}, err
	}
	r := newResult(v)
	r.Seconds = time.Since(from).Seconds()
	return r, nil
}

// fetch copies a file to the disk. It waits while the storage is away, or the disk is full.
func (w *worker) fetch(ctx context.Context, name string) (f *os.File, err error) {
	err = retry(ctx, w.waiting, func(ctx context.Context) (err error) {
		f, err = w.store.Fetch(ctx, name, w.o.Temp)
		if errors.Is(err, fs.ErrNotExist) {
			err = &permanentError{err}
		}
		return err
	})
	return f, err
}

// simulate verifies a file as samestep replay verify does.
func (w *worker) simulate(f *replay.File) (v *desync.Verification, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = &crashError{what, debug.Stack()}
		}
	}()
	h, err := f.Header()
	if err != nil {
		return &desync.Verification{Err: err}, nil
	}
	var games replay.Games
	if h.Engine != replay.ForeignEngine { // an imported match is only compared
		g, err := w.o.Game(f)
		if err != nil {
			return &desync.Verification{Err: err}, nil
		}
		games = replay.Games{g}
	}
	o := replay.VerifyOptions{Now: time.Now, MaxTicks: w.o.MaxTicks, Workers: max(1, runtime.GOMAXPROCS(0)/w.o.Jobs)}
	v, _ = desync.Verify(f, games, o) // v has the error
	return v, nil
}
