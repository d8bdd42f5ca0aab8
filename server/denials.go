package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Denials keep the bans and revocations of a server beyond its process, such as in the storage of a cluster. Keys have letters, digits
// and dashes only. Implementations must be safe for concurrent use.
type Denials interface {
	Put(key string, value []byte) error
	Delete(key string) error                  // no error if there is none
	Get(key string) (value []byte, err error) // nil without an error if there is none

	// Sweep deletes the values that stale reports, unless they have changed meanwhile. It passes the time on the store's own clock, and
	// a function that reports whether a match may still be played or continued by a server with these Denials.
	Sweep(stale func(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool) error

	// Watch calls saw with each value, and later with those that others put, and gone with the keys that they delete. It returns when
	// all that was there has been seen, and goes on without the caller. The functions must be called one after the other.
	Watch(saw func(key string, value []byte), gone func(key string)) error
}

const (
	// keepAgain is the pause before another attempt to keep something.
	keepAgain = time.Second

	// keepPatience is how long a call waits until something is kept. Nothing limits the attempt itself.
	keepPatience = 5 * time.Second
)

// notKept says that the disk or the storage has failed.
const notKept = "it holds here and now, but could not be stored, so a restart would forget it; the server tries again"

// keeper writes what is to be kept, in the order of a key's changes, concurrently with the matches.
type keeper struct {
	store Denials // or nil
	log   *slog.Logger

	mu       sync.Mutex
	waiting  map[string][]byte // nil for what is to be deleted
	attempt  map[string][]byte // what is being written; nobody else changes it
	failed   map[string]error  // of the last attempt at a key, until a later one succeeds or another value waits
	writing  bool
	stopped  bool          // one more attempt is made
	stopping chan struct{} // closed then
	changed  chan struct{}
}

func newKeeper(store Denials, log *slog.Logger) *keeper {
	return &keeper{
		store: store, log: log, waiting: make(map[string][]byte), failed: make(map[string]error),
		stopping: make(chan struct{}), changed: make(chan struct{}),
	}
}

// keep begins to write a value in place of the one with the same key, or to delete that for nil.
func (k *keeper) keep(key string, value []byte) {
	if k.store == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting[key] = value
	delete(k.failed, key)
	if !k.writing {
		k.writing = true
		go k.write()
	}
}

// place returns where a value is, for people.
func (k *keeper) place(key string) string {
	if f, ok := k.store.(interface{ path(key string) string }); ok {
		return f.path(key)
	}
	return key
}

// write writes until nothing waits.
func (k *keeper) write() {
	for {
		k.mu.Lock()
		k.attempt, k.waiting = k.waiting, make(map[string][]byte)
		last := k.stopped
		k.mu.Unlock()
		failed := make(map[string]error)
		for key, value := range k.attempt {
			var err error
			if value == nil {
				err = k.store.Delete(key)
			} else {
				err = k.store.Put(key, value)
			}
			if err != nil {
				failed[key] = err
			}
		}
		if k.finish(failed, last) {
			return
		}
		if len(failed) > 0 {
			select {
			case <-time.After(keepAgain):
			case <-k.stopping:
			}
		}
	}
}

// finish notes the outcome of an attempt, and lets what has failed wait for the next one. It reports whether there is none.
func (k *keeper) finish(failed map[string]error, last bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, err := range failed {
		if len(k.failed) == 0 {
			k.log.Error("bans and revocations are not kept", "err", err)
		}
		if _, later := k.waiting[key]; !later {
			k.waiting[key], k.failed[key] = k.attempt[key], err
		}
	}
	for key := range k.attempt {
		if failed[key] == nil {
			delete(k.failed, key)
		}
	}
	k.attempt = nil
	k.writing = len(k.waiting) > 0 && !(last && len(failed) > 0)
	close(k.changed)
	k.changed = make(chan struct{})
	return !k.writing
}

// flush waits until the last value of a key is kept, for keepPatience at most. It returns the error of an attempt, or ctx's.
func (k *keeper) flush(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, keepPatience)
	defer cancel()
	return k.await(ctx, func() (done bool, err error) {
		_, waiting := k.waiting[key]
		_, written := k.attempt[key]
		err = k.failed[key]
		return err != nil || !waiting && !written, err
	})
}

// await waits until done reports true, which is called with the mutex held.
func (k *keeper) await(ctx context.Context, done func() (bool, error)) error {
	for {
		k.mu.Lock()
		over, err := done()
		changed := k.changed
		k.mu.Unlock()
		if over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stop ends the attempts, after a last one.
func (k *keeper) stop(ctx context.Context) {
	k.mu.Lock()
	if !k.stopped {
		k.stopped = true
		close(k.stopping)
	}
	k.mu.Unlock()
	_ = k.await(ctx, func() (bool, error) { return !k.writing, nil }) // the log has the errors
}
