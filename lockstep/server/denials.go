package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Denials keep the bans and revocations of a server beyond its process, such as in the storage of a cluster. Keys have letters, digits
// and dashes only. Implementations must be safe for concurrent use.
type Denials interface {
	Put(key string, value []byte) error
	Delete(key string) error                  // no error if there is none
	Get(key string) (value []byte, err error) // nil without an error if there is none

	// Watch calls saw with each value, and later with those that others put, and gone with the keys that they delete. It returns when
	// all that was there has been seen, and goes on without the caller. The functions must be called one after the other.
	Watch(saw func(key string, value []byte), gone func(key string)) error
}

// keepAgain is the pause before another attempt to keep something.
const keepAgain = time.Second

// keeper writes what is to be kept, in the order of a key's changes, concurrently with the matches.
type keeper struct {
	store Denials // or nil
	log   *slog.Logger

	mu      sync.Mutex
	waiting map[string][]byte // nil for what is to be deleted
	writing bool
	failed  error // of the last attempt
	stopped bool  // no attempt is repeated
	changed chan struct{}
}

func newKeeper(store Denials, log *slog.Logger) *keeper {
	return &keeper{store: store, log: log, waiting: make(map[string][]byte), changed: make(chan struct{})}
}

// keep begins to write a value in place of the one with the same key, or to delete that for nil.
func (k *keeper) keep(key string, value []byte) {
	if k.store == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting[key] = value
	if !k.writing {
		k.writing = true
		go k.write()
	}
}

// write writes until nothing waits.
func (k *keeper) write() {
	for {
		k.mu.Lock()
		next := k.waiting
		k.waiting = make(map[string][]byte)
		if len(next) == 0 || k.stopped && k.failed != nil {
			k.writing = false
			k.announce()
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		var failed error
		for key, value := range next {
			var err error
			if value == nil {
				err = k.store.Delete(key)
			} else {
				err = k.store.Put(key, value)
			}
			if err == nil {
				delete(next, key)
			} else {
				failed = err
			}
		}
		k.finish(next, failed)
	}
}

// finish notes the outcome of an attempt, and lets what has failed wait for the next one.
func (k *keeper) finish(rest map[string][]byte, failed error) {
	k.mu.Lock()
	if failed != nil && k.failed == nil {
		k.log.Error("bans and revocations are not kept", "err", failed)
	}
	k.failed = failed
	for key, value := range rest {
		if _, later := k.waiting[key]; !later {
			k.waiting[key] = value
		}
	}
	k.announce()
	k.mu.Unlock()
	if failed != nil {
		time.Sleep(keepAgain)
	}
}

// announce wakes those who wait. The mutex is held.
func (k *keeper) announce() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// flush waits until nothing waits to be kept, and returns the error of an attempt.
func (k *keeper) flush(ctx context.Context) error {
	for {
		k.mu.Lock()
		writing, failed, changed := k.writing, k.failed, k.changed
		k.mu.Unlock()
		switch {
		case !writing:
			return failed
		case failed != nil:
			return failed
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
	k.stopped = true
	k.mu.Unlock()
	_ = k.flush(ctx) // the log has its error
}
