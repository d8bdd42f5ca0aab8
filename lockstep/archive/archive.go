//go:build !js

package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Options configure an [Archive].
type Options struct {
	Store Store  // closed with the archive if it has a method Close
	Index string // path of the index
	Keep  Keep

	// Seal seals and signs the replay of a match that is over, for files that [Archive.Adopt] finds unsealed, or not
	// signed by Signer. Nil stores them as they are.
	Seal func(ctx context.Context, path string) error

	// Signer is the public key of Seal's signatures, in hexadecimal digits, or "".
	Signer string

	Log *slog.Logger // slog.Default()

	// Retry are the first and the longest pause after a failure of the store: 1 s and 5 m. A file that cannot be read or
	// sealed is tried again after 12 of the longest.
	Retry, LongestRetry time.Duration

	// Follow is the pause between two looks at what other servers have stored: 2 s if Store is a [Journal], and otherwise 1 m,
	// or 50 times what it takes to list the store if that is longer. A negative one disables it, for servers that share
	// the index.
	Follow time.Duration
}

// An Archive is a [server.Archive]. One goroutine moves files into the store, one after the other. Another one follows what
// other servers do with the store.
type Archive struct {
	catalog
	o       Options
	cancel  func()
	wait    sync.WaitGroup
	lost    bool          // the index must be made again; of the goroutine
	refused []string      // paths of files that could not be read or sealed; of the goroutine
	renew   time.Time     // when to try them again; zero without one
	wake    chan struct{} // holds a value while the goroutine has something to look at

	mu      sync.Mutex
	waiting []string          // paths, in order
	paths   map[string]string // by the names of waiting
	dropped bool              // the file that is being stored was deleted
	checked bool              // the index is there, and has nothing that a crash left half done
	idle    *sync.Cond        // signals changes of waiting and checked
}

// New starts an archive. If there is no index, it makes one in the background.
func New(o Options) (*Archive, error) {
	if err := o.Keep.check(); err != nil {
		return nil, err
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Retry = cmp.Or(o.Retry, time.Second)
	o.LongestRetry = cmp.Or(o.LongestRetry, 5*time.Minute)
	if err := os.MkdirAll(filepath.Dir(o.Index), 0o700); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a := &Archive{o: o, catalog: catalog{store: o.Store, index: index{path: o.Index}, log: o.Log}, wake: make(chan struct{}, 1), paths: make(map[string]string)}
	a.idle = sync.NewCond(&a.mu)
	a.lost = !a.index.exists()
	if err := a.index.view(func(*bolt.Tx) error { return nil }); errors.Is(err, errIndex) {
		a.log.Warn("archive index", "err", err, "moved", o.Index+".damaged")
		if err := os.Rename(o.Index, o.Index+".damaged"); err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
		a.lost = true
	} else if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.wait.Go(func() { a.run(ctx) })
	if o.Follow >= 0 {
		f := follower{catalog: &a.catalog, waits: a.waits, every: o.Follow, retry: o.Retry, longestRetry: o.LongestRetry}
		f.journal, _ = o.Store.(Journal)
		f.cleaner, _ = o.Store.(Cleaner)
		a.wait.Go(func() { f.run(ctx) })
	}
	return a, nil
}

// Close stops the archive. Files that wait stay where they are, for [Archive.Adopt] after the next start.
func (a *Archive) Close() {
	a.cancel()
	a.wait.Wait()
	if c, ok := a.o.Store.(interface{ Close() }); ok {
		c.Close()
	}
}

// Flush waits until all files that were added are in the store and the index agrees with it, or until ctx ends.
func (a *Archive) Flush(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.idle.Broadcast()
	})()
	a.mu.Lock()
	defer a.mu.Unlock()
	for (len(a.waiting) > 0 || !a.checked) && ctx.Err() == nil {
		a.idle.Wait()
	}
	return ctx.Err()
}

// Waiting returns the number of files that the store does not have yet.
func (a *Archive) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}

// Collector returns the archive's metrics, for [server.Options.Metrics].
func (a *Archive) Collector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "samestep_archive_waiting", Help: "Files in the server's folder that the archive does not have yet.",
	}, func() float64 { return float64(a.Waiting()) })
}

// Played implements [server.Archive].
func (a *Archive) Played(path string, subjects map[lockstep.Player]string) error {
	return writeOwners(path, subjects)
}

// Add implements [server.Archive].
func (a *Archive) Add(path string) {
	name := filepath.Base(path)
	if kindOf(name) == "" {
		a.log.Error("archive", "path", path, "err", "got a name that no archive has, want NAME.ssr, NAME.zip or NAME.html")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.paths[name]; !known {
		a.waiting = append(a.waiting, path)
		a.paths[name] = path
	}
	a.wakeUp()
}

// wakeUp tells the goroutine to look again.
func (a *Archive) wakeUp() {
	select {
	case a.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Adopt adds what an earlier run has left in a server's folder: replays of matches that are over, and bundles. It
// leaves replays that a server writes and replays without an end. It looks at the names at once, and at the files later.
func (a *Archive) Adopt(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && kindOf(e.Name()) != "" {
			a.Add(filepath.Join(dir, e.Name()))
		}
		if stem, ok := strings.CutSuffix(e.Name(), ".owners"); ok { // a crash followed the move of its replay
			if _, err := os.Lstat(filepath.Join(dir, stem+".ssr")); errors.Is(err, fs.ErrNotExist) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// Find implements [server.Archive].
func (a *Archive) Find(ctx context.Context, q server.ArchiveQuery) (found []server.Archived, next string, err error) {
	return a.find(ctx, q)
}

// Get implements [server.Archive].
func (a *Archive) Get(ctx context.Context, name string) (server.Archived, error) {
	e, err := a.get(name)
	if errors.Is(err, server.ErrArchived) {
		e, err = a.ask(ctx, name)
	}
	if err != nil {
		return server.Archived{}, err
	}
	return e.archived(), nil
}

// Rebuild makes the index agree with the store, and returns the number of files. It reads the description of each file,
// and the file itself only if that is missing. Searches during it find what is there already.
func (a *Archive) Rebuild(ctx context.Context) (files int, err error) { return a.rebuild(ctx, a.waits) }

// waits reports whether a file waits for the store.
func (a *Archive) waits(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.paths[name]
	return known
}

// Open implements [server.Archive].
func (a *Archive) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if kindOf(name) == "" {
		return nil, server.ErrArchived
	}
	f, err := a.store.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = server.ErrArchived
	}
	return f, err
}

// Delete implements [server.Archive].
func (a *Archive) Delete(ctx context.Context, name string) error {
	names, err := a.group(name)
	if errors.Is(err, server.ErrArchived) {
		_, err = a.ask(ctx, name)
		names = []string{name}
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := a.drop(n); err != nil {
			return err
		}
		if err := a.delete(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a file that waits for the store.
func (a *Archive) drop(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	path, waits := a.paths[name]
	if !waits {
		return nil
	}
	if a.waiting[0] == path { // it may be on its way
		a.dropped = true
	}
	for _, p := range []string{path, ownersPath(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
