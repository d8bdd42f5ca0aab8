//go:build !js

package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
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
	a.await(ctx, func() bool { return !a.queue.busy() && a.checked })
	return ctx.Err()
}

// await waits until done reports true, which is called with the mutex held, or until ctx ends.
func (a *Archive) await(ctx context.Context, done func() bool) {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.idle.Broadcast()
	})()
	a.mu.Lock()
	defer a.mu.Unlock()
	for !done() && ctx.Err() == nil {
		a.idle.Wait()
	}
}

// Waiting returns the number of files that the store does not have yet, also of those that it refuses.
func (a *Archive) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue.paths)
}

// Collector returns the archive's metrics, for [server.Options.Metrics].
func (a *Archive) Collector() prometheus.Collector {
	return measure.Collector(func(to chan<- prometheus.Metric) {
		measure.Gauge(to, "samestep_archive_waiting", "Files in the server's folder that the archive does not have yet.", float64(a.Waiting()))
		a.mu.Lock()
		oldest := a.queue.oldest(time.Now())
		a.mu.Unlock()
		measure.Gauge(to, "samestep_archive_waiting_seconds", "How long the file has waited that waits longest, in seconds.", oldest.Seconds())
	})
}

// Played implements [server.Archive].
func (a *Archive) Played(path string, subjects map[lockstep.Player]string) error {
	b, err := json.Marshal(subjects)
	if err != nil {
		return err
	}
	return files.Replace(ownersPath(path), func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
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
	q.Kind = cmp.Or(q.Kind, kindReplay)
	found = []server.Archived{}
	err = a.index.view(func(tx *bolt.Tx) error {
		found, next, err = find(ctx, tx, &q)
		return err
	})
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

// upload moves files into the store, until ctx ends.
func (a *Archive) upload(ctx context.Context) {
	p := pause{first: a.o.Retry, longest: a.o.LongestRetry}
	for ctx.Err() == nil {
		name, err := a.step(ctx, a.queue.next, a.move)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next := p.next()
			a.log.Warn("archive", "name", name, "err", err, "waiting", a.Waiting(), "retry_in", next.Round(time.Millisecond))
			a.listWaiting(ctx)
			sleep(ctx, next, a.arrived) // the next file may be one that the store takes
		case name == "":
			sleep(ctx, a.retryRefused(time.Now()), a.arrived)
		default:
			p.reset()
		}
	}
}

// retryRefused lets refused files wait again when it is time, and returns the time until then.
func (a *Archive) retryRefused(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue.refused) == 0 {
		return time.Hour
	}
	if now.Before(a.renew) {
		return a.renew.Sub(now)
	}
	a.queue.retry()
	return 0
}

// listWaiting brings the files that wait into the index, without the store, so that they are found while it is away.
func (a *Archive) listWaiting(ctx context.Context) {
	for ctx.Err() == nil {
		name, err := a.step(ctx, a.queue.nextUnlisted, a.listFile)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("archive", "name", name, "err", err)
		}
		if name == "" {
			return
		}
	}
}

// step takes a file from the queue with next, and does something with it. It returns its name, or "", and only errors after which the store may
// be away.
func (a *Archive) step(ctx context.Context, next func() string, do func(ctx context.Context, path string) error) (name string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.mu.Lock()
	name = next()
	path := a.queue.paths[name]
	a.stopMove = cancel
	a.mu.Unlock()
	if name == "" {
		return "", nil
	}
	err = do(ctx, path)
	o := left
	switch {
	case errors.Is(err, errListed):
		o, err = again, nil
	case errors.Is(err, errErased): // in this order, so that the tombstone stays as long as the file
		if err = removeLocal(path); err == nil {
			err = a.comeBack(true, name)
		}
		if err != nil {
			o = again
		}
	case errors.Is(err, ErrRefused):
		a.log.Error("not archived", "path", path, "err", err)
		o, err = refusal, nil
	case err != nil:
		o = again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue.end(o) {
		err = nil
	}
	if o == refusal && len(a.queue.refused) == 1 {
		a.renew = time.Now().Add(12 * a.o.LongestRetry)
	}
	a.idle.Broadcast()
	wake(a.changed) // there is one more, or somebody has deleted it meanwhile
	return name, err
}

// retainEvery is the interval at which the age of files is looked at, besides after each new file.
const retainEvery = 10 * time.Minute

// restShare times as long as it took to list the store, retention does not list it again.
const restShare = 50

// keepHouse deletes what is not to be kept, and makes the index when it is missing, until ctx ends. It does not wait for uploads.
func (a *Archive) keepHouse(ctx context.Context) {
	p := pause{first: a.o.Retry, longest: a.o.LongestRetry}
	for ctx.Err() == nil {
		a.countPass()
		next, err := a.tidy(ctx, time.Now())
		a.countPass()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next = p.next()
			a.log.Warn("archive", "err", err, "again_in", next.Round(time.Millisecond))
			sleep(ctx, next, nil)
		default:
			p.reset()
			sleep(ctx, next, a.changed)
		}
	}
}

// countPass notes that keepHouse begins or ends to look.
func (a *Archive) countPass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passes++
	a.idle.Broadcast()
}

// tidy does what there is to do besides moving files, and returns the time until the next time.
func (a *Archive) tidy(ctx context.Context, now time.Time) (next time.Duration, err error) {
	lost, err := a.repairIndex(ctx)
	if !lost && !now.Before(a.rest) {
		listing, rerr := a.retainNow(ctx, now)
		a.rest = now.Add(restShare * listing)
		err = errors.Join(err, rerr)
	}
	err = errors.Join(err, a.eraseAll(ctx))
	if next = a.rest.Sub(now); next <= 0 {
		next = retainEvery
	}
	if wait := a.untilDue(now); wait > 0 {
		next = min(next, wait)
	}
	return next, err
}

// retainNow puts tombstones on what is not to be kept, and returns how long it took to list the store.
func (a *Archive) retainNow(ctx context.Context, now time.Time) (listing time.Duration, err error) {
	l, err := a.settle(now)
	if err != nil {
		return 0, err
	}
	listing, err = a.retain(ctx, l.now(now), now, func(name string) error {
		_, err := a.condemnMatch(name)
		if isFull(err) {
			err = a.makeRoom(ctx, name)
		}
		return err
	})
	return listing, errors.Join(err, a.announceDeletion(&l, now))
}

// repairIndex makes the index if it was lost, and otherwise finds what was stored just before a crash. It works once after a start. Its
// error is also set while only the second is missing, so that lost says whether the index can be used.
func (a *Archive) repairIndex(ctx context.Context) (lost bool, err error) {
	a.mu.Lock()
	lost, checked := a.lost, a.checked
	a.mu.Unlock()
	if checked {
		return false, nil
	}
	if lost {
		n, err := a.Rebuild(ctx)
		if err != nil {
			return true, err
		}
		a.log.Info("archive index", "files", n)
	} else {
		_, err = a.list(ctx, false)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost, a.checked = false, err == nil
	a.idle.Broadcast()
	return false, err
}

// move moves a file into the store. The order makes every crash harmless: the file leaves its old path last, and whatever was done
// before is done again. Its error is nil also if there is nothing to move, [ErrRefused] if it will not help to try again
// soon, and errErased if the file is deleted.
func (a *Archive) move(ctx context.Context, path string) error {
	e, err := a.announce(ctx, path)
	if err != nil || e == nil {
		return err
	}
	e.Stored = true
	if err := a.write(ctx, e); err != nil {
		return err
	}
	if err := a.put(ctx, e, path); err != nil && isGone(path) {
		return a.missing(ctx, path)
	} else if err != nil {
		return err
	}
	if err := a.save(e); err != nil {
		return err
	}
	a.log.Info("archived", "name", e.Name, "bytes", e.SizeBytes)
	return removeLocal(path)
}

// errListed: the file waits, and the index has it.
var errListed = errors.New("archive: the file is listed")

// listFile brings a file that waits into the index. Its error is errListed if the file still waits, and otherwise as that of move.
func (a *Archive) listFile(ctx context.Context, path string) error {
	if isGone(path) {
		return errListed // move asks the store
	}
	e, err := a.announce(ctx, path)
	if err == nil && e != nil {
		err = errListed
	}
	return err
}

// announce brings a file that waits into the index, and returns its entry. The entry is nil if there is nothing to move.
func (a *Archive) announce(ctx context.Context, path string) (*entry, error) {
	e, err := a.prepare(ctx, path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if isGone(path) {
		return nil, a.missing(ctx, path)
	}
	if errors.Is(err, errNotOver) {
		a.log.Warn("not archived", "path", path, "err", err)
		return nil, nil
	}
	if err != nil || e == nil { // the file stays; an operator can see it; or a server writes it
		return nil, err
	}
	if err = a.checkName(e); err == nil {
		err = a.save(e)
	}
	return e, err
}

// missing ends the move of a file that is no longer in its folder: another process has moved it, or somebody has removed it.
func (a *Archive) missing(ctx context.Context, path string) error {
	name := filepath.Base(path)
	e, err := a.get(name)
	if errors.Is(err, errErased) {
		return errErased
	}
	if errors.Is(err, server.ErrArchived) || err == nil && e.Stored {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := a.has(ctx, name)
	if there {
		e.Stored, e.here = true, true
		return a.save(e)
	}
	if err == nil {
		err = a.delete(ctx, name) // its description
	}
	if err == nil {
		err = a.forget(name)
	}
	return err
}

// checkName refuses a file that would take the place of a file of another match.
func (a *Archive) checkName(e *entry) error {
	before, err := a.get(e.Name)
	switch {
	case errors.Is(err, errErased):
		return nil // save says whether it is this match
	case errors.Is(err, server.ErrArchived):
		return nil
	case err == nil && before.Stored && !agrees(before.ID, e.ID):
		return fmt.Errorf("%w: the archive has %s of another match, with ID %s", ErrRefused, e.Name, before.ID)
	}
	return err
}

// prepare describes a file that waits. It seals and signs a replay if that is missing. Without an error it returns nil
// for a replay that is still written, and for evidence about a match that is not over. Its error is [ErrRefused] for a malformed replay.
func (a *Archive) prepare(ctx context.Context, path string) (*entry, error) {
	if running, err := isRunning(path); running || err != nil {
		return nil, err
	}
	e, sealed, err := describeFile(path)
	if err == nil && e != nil && e.Kind == kindReplay && a.o.Seal != nil && !(sealed && e.Signer == a.o.Signer) {
		if err = a.o.Seal(ctx, path); err == nil {
			e, _, err = describeFile(path)
		}
	}
	if isMalformed(err) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return e, err
}

// isMalformed reports whether an error is about the content of a file, so that it does not help to try again soon.
func isMalformed(err error) bool {
	var system syscall.Errno
	return err != nil && !errors.As(err, &system) && replay.ClassOf(err) != ""
}

// isRunning reports whether a file is evidence about a match whose log is in the same folder, or in that of the running matches, and has
// no end: the match runs, or waits to be resumed.
func isRunning(path string) (bool, error) {
	log := server.ReplayOf(filepath.Base(path))
	if log == "" {
		return false, nil
	}
	dir := filepath.Dir(path)
	if !isGone(filepath.Join(dir, "live", log)) {
		return true, nil
	}
	e, _, err := describeFile(filepath.Join(dir, log))
	switch {
	case errors.Is(err, errNotOver), replay.ClassOf(err).Early():
		return true, nil
	case errors.Is(err, fs.ErrNotExist), isMalformed(err): // nobody resumes it
		return false, nil
	}
	return err == nil && e == nil, err
}

// Delete implements [server.Archive]. When it returns nil, the index has a tombstone of each file, so nobody finds it or gets it, also
// after a crash. It waits a while for keepHouse, which deletes the files: at once, or else as soon as the store can do it. A tombstone
// stays until the file cannot come back: the store may do later what it was asked before, and another server of the index may have
// the file in its folder. A lost index forgets deletions that are not finished.
func (a *Archive) Delete(ctx context.Context, name string) error {
	a.mu.Lock()
	lost := a.lost
	a.mu.Unlock()
	if lost { // the index may lack files that go, too
		if _, err := a.list(ctx, false); err != nil {
			return err
		}
	}
	names, err := a.condemnMatch(name)
	if errors.Is(err, server.ErrArchived) && !errors.Is(err, errErased) {
		names, err = a.condemnUnknown(ctx, name)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, userTime)
	defer cancel()
	if a.awaitErased(ctx, names); ctx.Err() != nil {
		a.log.Warn("archive, to be deleted later", "name", name, "err", ctx.Err())
	}
	return nil
}

// condemnMatch is condemn with the files that wait here. The one that is on its way is stopped.
func (a *Archive) condemnMatch(name string) (names []string, err error) {
	a.mu.Lock()
	paths := a.queue.of(name)
	a.mu.Unlock()
	waits := make(map[string]waiter)
	for n, path := range paths {
		e, _, err := describeFile(path)
		if err != nil && !errors.Is(err, errNotOver) {
			e = describeName(path) // which is enough
		}
		if e != nil { // nil for the log of a match that is not over
			waits[n] = waiter{path, e}
		}
	}
	if names, err = a.condemn(name, waits); err != nil {
		return nil, err
	}
	for _, path := range a.drop(names, waits) {
		removeLocal(path) // or else erase does it
	}
	return names, nil
}

// drop takes files out of the queue, and returns the paths of those that are not on their way.
func (a *Archive) drop(names []string, waits map[string]waiter) (left []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range names {
		if w, ok := waits[n]; !ok {
			continue
		} else if a.queue.drop(n) {
			a.stopMove()
		} else {
			left = append(left, w.path)
		}
	}
	a.idle.Broadcast()
	return left
}

// condemnUnknown is condemnMatch for a file that another server has stored, and that the index does not have yet.
func (a *Archive) condemnUnknown(ctx context.Context, name string) ([]string, error) {
	e, err := a.ask(ctx, name)
	if err == nil {
		err = a.save(e)
	}
	if err == nil {
		_, err = a.list(ctx, false) // it may have bundles
	}
	if err != nil {
		return nil, err
	}
	return a.condemnMatch(name)
}

// awaitErased waits until none of these files is on its way, and keepHouse has seen to their tombstones, or until ctx ends.
func (a *Archive) awaitErased(ctx context.Context, names []string) {
	whole := 0
	a.await(ctx, func() bool {
		whole = a.passes + a.passes%2 + 2
		return !slices.Contains(names, a.queue.moving)
	})
	wake(a.changed)
	a.await(ctx, func() bool { return a.cancel == nil || a.passes >= whole })
}

// eraseAll erases the files with tombstones, but the one that is on its way to the store.
func (a *Archive) eraseAll(ctx context.Context) error {
	all, err := a.tombs(time.Now())
	if err != nil {
		return err
	}
	return a.erase(ctx, all, func(name string) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.queue.moving == name
	})
}

// makeRoom deletes a match whose tombstones cannot be written, the replay last. What goes makes room for them.
func (a *Archive) makeRoom(ctx context.Context, name string) error {
	var names []string
	if err := a.index.view(func(tx *bolt.Tx) error {
		_, m, err := loadMatch(tx, name)
		if names = m.with(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
		return err
	}); err != nil {
		return err
	}
	for _, n := range names {
		if err := a.delete(ctx, n); err != nil {
			return err
		}
	}
	_, err := a.condemnMatch(name)
	return err
}

// isFull reports whether a disk was full. The database keeps only the words of some errors.
func isFull(err error) bool {
	if err == nil {
		return false
	}
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}

// settle returns the limits. At the first time after a start it takes those of the options.
func (a *Archive) settle(now time.Time) (limits, error) {
	a.mu.Lock()
	known := a.limits
	a.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	l, same := limits{Settled: a.o.Keep, Wanted: a.o.Keep}, false
	err := a.index.view(func(tx *bolt.Tx) (err error) {
		l, same, err = loadLimits(tx, a.o.Keep, now, a.o.Grace)
		return err
	})
	if err == nil && !same {
		err = a.index.update(func(tx *bolt.Tx) error { return saveLimits(tx, l) })
		if isFull(err) { // a restart begins the time again
			a.log.Warn("archive", "err", err)
			err = nil
		}
	}
	if err != nil {
		return limits{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limits = &l
	return l, nil
}

// announceDeletion notes what a lower limit will delete, for searches, and logs it when that is more than before.
func (a *Archive) announceDeletion(l *limits, now time.Time) error {
	var d Deletion
	var names map[string]struct{}
	if l.waits(now) {
		if err := a.index.view(func(tx *bolt.Tx) error {
			d, names = deletion(tx, l, now)
			return nil
		}); err != nil {
			return err
		}
	}
	a.mu.Lock()
	more := d.Files > len(a.doomed)
	a.doomed, a.deletes = names, d.At
	a.mu.Unlock()
	if more {
		a.log.Warn("lower limits of the archive will delete files; larger ones before that time keep them", "files", d.Files, "bytes", d.SizeBytes, "first", d.First, "last", d.Last, "at", d.At)
	}
	return nil
}

// untilDue returns how long a lower limit still waits, or 0.
func (a *Archive) untilDue(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limits == nil || !a.limits.waits(now) {
		return 0
	}
	return a.limits.due().Sub(now)
}
