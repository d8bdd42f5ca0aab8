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
	"github.com/seed-49bee653/samestep/server"
)

// Options configure an [Archive].
type Options struct {
	Store Store  // closed with the archive if it has a method Close
	Index string // path of the index
	Keep  Keep

	// Grace is how long limits wait that allow less than those of the last start, or any limits if the index had none and has
	// files: 1 h; negative: not at all. Meanwhile the larger ones hold, and searches say what will be deleted.
	Grace time.Duration

	// Seal seals and signs the replay of a match that is over, for files that [Archive.Adopt] finds unsealed, or not
	// signed by Signer. Nil stores them as they are.
	Seal func(ctx context.Context, path string) error

	// Signer is the public key of Seal's signatures, in hexadecimal digits, or "".
	Signer string

	Log *slog.Logger // slog.Default()

	// Retry are the first and the longest pause after a failure of the store: 1 s and 5 m. A file that cannot be read or
	// sealed, or that the store refuses with [ErrRefused], is tried again after 12 of the longest.
	Retry, LongestRetry time.Duration

	// Follow is the pause between two looks at what other servers have stored: 2 s if Store is a [Journal], and otherwise 1 m,
	// or 50 times what it takes to list the store if that is longer. A negative one disables it, for servers that share
	// the index.
	Follow time.Duration
}

// An Archive is a [server.Archive]. One goroutine moves files into the store, one after the other, a second one deletes what is
// not to be kept, and a third one follows what other servers do with the store.
type Archive struct {
	catalog
	o       Options
	cancel  func()
	wait    sync.WaitGroup
	rest    time.Time     // until when retention does not list the store; of keepHouse
	arrived chan struct{} // holds a value while upload has something to look at
	changed chan struct{} // the same for keepHouse

	mu       sync.Mutex
	queue    queue
	stopMove func()              // of the file that is on its way
	renew    time.Time           // when to try the refused files again
	lost     bool                // the index must be made again
	checked  bool                // the index is there, and has nothing that a crash left half done
	passes   int                 // how often keepHouse has begun or ended to look; odd while it does
	limits   *limits             // nil before keepHouse has looked at the index
	doomed   map[string]struct{} // what a lower limit will delete; nil unless one waits
	deletes  time.Time           // when it does
	idle     *sync.Cond          // signals changes of queue, checked and passes
}

// New starts an archive. If there is no index, it makes one in the background.
func New(o Options) (*Archive, error) {
	a, err := open(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.wait.Go(func() { a.upload(ctx) })
	a.wait.Go(func() { a.keepHouse(ctx) })
	if o.Follow >= 0 {
		f := follower{catalog: &a.catalog, every: o.Follow, pause: pause{first: a.o.Retry, longest: a.o.LongestRetry}}
		f.journal, _ = o.Store.(Journal)
		f.cleaner, _ = o.Store.(Cleaner)
		a.wait.Go(func() { f.run(ctx) })
	}
	return a, nil
}

// open makes an archive that does nothing yet.
func open(o Options) (*Archive, error) {
	if err := o.Keep.check(); err != nil {
		return nil, err
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Retry = cmp.Or(o.Retry, time.Second)
	o.Grace = cmp.Or(o.Grace, usualGrace)
	o.LongestRetry = cmp.Or(o.LongestRetry, 5*time.Minute)
	if err := os.MkdirAll(filepath.Dir(o.Index), 0o700); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a := &Archive{
		o: o, catalog: catalog{store: o.Store, index: index{path: o.Index}, log: o.Log}, queue: newQueue(),
		arrived: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	a.idle = sync.NewCond(&a.mu)
	if a.lost = !a.index.exists(); a.lost {
		return a, nil
	}
	err := a.index.view(func(*bolt.Tx) error { return nil })
	if errors.Is(err, errIndex) {
		a.log.Warn("archive index", "err", err, "moved", o.Index+".damaged")
		a.lost, err = true, os.Rename(o.Index, o.Index+".damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
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
	for (a.queue.busy() || !a.checked) && ctx.Err() == nil {
		a.idle.Wait()
	}
	return ctx.Err()
}

// Waiting returns the number of files that the store does not have yet, also of those that it refuses.
func (a *Archive) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue.paths)
}

// Collector returns the archive's metrics, for [server.Options.Metrics].
func (a *Archive) Collector() prometheus.Collector {
	return gauges{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "samestep_archive_waiting", Help: "Files in the server's folder that the archive does not have yet.",
		}, func() float64 { return float64(a.Waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "samestep_archive_waiting_seconds", Help: "How long the file has waited that waits longest, in seconds.",
		}, func() float64 {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.queue.oldest(time.Now()).Seconds()
		}),
	}
}

// gauges is a collector of several.
type gauges []prometheus.GaugeFunc

// Describe implements [prometheus.Collector].
func (all gauges) Describe(c chan<- *prometheus.Desc) {
	for _, g := range all {
		g.Describe(c)
	}
}

// Collect implements [prometheus.Collector].
func (all gauges) Collect(c chan<- prometheus.Metric) {
	for _, g := range all {
		g.Collect(c)
	}
}

// Played implements [server.Archive].
func (a *Archive) Played(path string, subjects map[lockstep.Player]string) error {
	return writeOwners(path, subjects)
}

// Add implements [server.Archive].
func (a *Archive) Add(path string) {
	name := filepath.Base(path)
	if kindOf(name) == "" {
		a.log.Error("archive", "path", path, "err", "got a name that no archive has, want NAME.ssr, or that of its evidence")
		return
	}
	if whole, err := filepath.Abs(path); err == nil { // a tombstone has it, also for another start
		path = whole
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue.add(name, path, time.Now())
	wake(a.arrived)
}

// wake tells a goroutine to look again.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it will look anyway
	}
}

// Adopt adds what an earlier run has left in a server's folder: replays of matches that are over, and bundles. It
// leaves replays that a server writes, replays without an end, and the evidence about their matches. It looks at the names at once,
// and at the files later.
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
			if isGone(filepath.Join(dir, stem+".ssr")) && isGone(filepath.Join(dir, "live", stem+".ssr")) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// Find implements [server.Archive].
func (a *Archive) Find(ctx context.Context, q server.ArchiveQuery) (found []server.Archived, next string, err error) {
	found, next, err = a.find(ctx, q)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range found {
		found[i].Deletes = a.doomedAt(found[i].Name)
	}
	return found, next, err
}

// Get implements [server.Archive].
func (a *Archive) Get(ctx context.Context, name string) (server.Archived, error) {
	e, err := a.get(name)
	if errors.Is(err, server.ErrArchived) && !errors.Is(err, errErased) {
		e, err = a.ask(ctx, name)
	}
	if err != nil {
		return server.Archived{}, err
	}
	found := e.archived()
	a.mu.Lock()
	defer a.mu.Unlock()
	found.Deletes = a.doomedAt(name)
	return found, nil
}

// doomedAt returns when a lower limit deletes a file, or no time. The mutex is held.
func (a *Archive) doomedAt(name string) (at time.Time) {
	if _, doomed := a.doomed[name]; doomed {
		at = a.deletes
	}
	return at
}

// Rebuild makes the index agree with the store, and returns the number of files. It reads the description of each file,
// and the file itself only if that is missing. Searches during it find what is there already.
func (a *Archive) Rebuild(ctx context.Context) (files int, err error) { return a.rebuild(ctx) }

// Open implements [server.Archive].
func (a *Archive) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if _, err := a.get(name); kindOf(name) == "" || errors.Is(err, errErased) {
		return nil, server.ErrArchived
	}
	f, err := a.store.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = server.ErrArchived
	}
	return f, err
}
