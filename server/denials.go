package server

import (
	"context"
	"encoding/hex"
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
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
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

// maxDenial is the largest file in that folder, in bytes: all bans of a match.
const maxDenial = 4 << 20

// A denialFolder is a folder with a file for each key. No other server writes to it.
type denialFolder struct {
	folder string
	live   string     // the folder with the logs of matches that are not over
	mu     sync.Mutex // held while files change
}

func (f *denialFolder) path(key string) string { return filepath.Join(f.folder, key+".json") }

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

func (f *denialFolder) Watch(saw func(key string, value []byte), _ func(string)) error {
	return f.each(func(key string, value []byte) error {
		saw(key, value)
		return nil
	})
}

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

// banKey begins the key of all bans of a match, see [Denials].
const banKey = "bans-"

func banKeyOf(match lockstep.MatchID) string { return banKey + match.String() }

// matchOfBans returns the match in the key of its bans.
func matchOfBans(key string) (match lockstep.MatchID, ok bool) {
	text, ok := strings.CutPrefix(key, banKey)
	if b, err := hex.DecodeString(text); ok && err == nil && len(b) == len(match) {
		return lockstep.MatchID(b), true
	}
	return match, false
}

// A keptBan is the JSON of a ban.
type keptBan struct {
	Subject string    `json:"subject,omitempty"`
	Name    string    `json:"name,omitempty"`
	Address string    `json:"address,omitempty"`
	Guests  string    `json:"guests,omitempty"`
	Until   time.Time `json:"until,omitzero"` // zero for the rest of the match
	Reason  string    `json:"reason,omitempty"`
}

func (b *keptBan) active(now time.Time) bool { return b.Until.IsZero() || now.Before(b.Until) }

// parseBans returns the bans in a value; none in nil.
func parseBans(value []byte) (all []keptBan, err error) {
	if value != nil {
		err = json.Unmarshal(value, &all)
	}
	return all, err
}

// keepBans keeps the bans of the match if they have changed.
func (m *Match) keepBans() {
	n := m.host.Bans().Changes()
	if n == m.banChanges {
		return
	}
	m.banChanges, m.bansKept = n, true
	var all []keptBan
	for _, b := range m.host.Bans().List(m.now()) {
		k := keptBan{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Reason: b.Reason}
		if b.Until > 0 {
			k.Until = m.epoch.Add(time.Duration(b.Until) * time.Microsecond).UTC()
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		m.server.keeper.keep(banKeyOf(m.header.Match), nil)
		return
	}
	value, _ := json.Marshal(all) // no such value has an error
	m.server.keeper.keep(banKeyOf(m.header.Match), value)
}

// wrongBans is the error of bans that are kept and cannot be restored.
func wrongBans(place string, err error) error {
	return fmt.Errorf("the bans at %s: %w; repair or remove them, then start again", place, err)
}

// restoreBans gives a recovered match the bans that it had.
func (m *Match) restoreBans() error {
	now := m.now()
	all, err := parseBans(m.bans)
	if err != nil {
		return wrongBans(m.server.keeper.place(banKeyOf(m.header.Match)), err)
	}
	for _, b := range all {
		until := lockstep.Time(0)
		if !b.Until.IsZero() {
			if until = lockstep.Time(b.Until.Sub(m.epoch).Microseconds()); until <= now {
				continue
			}
		}
		_, err := m.host.Bans().Add(now, host.Ban{Subject: b.Subject, Name: b.Name, Address: b.Address, Guests: b.Guests, Until: until, Reason: b.Reason})
		if err != nil && m.host.Err() == nil {
			return wrongBans(m.server.keeper.place(banKeyOf(m.header.Match)), err)
		}
	}
	m.bans = nil
	return nil
}

// forgetBans forgets the bans of a match that is over.
func (m *Match) forgetBans() {
	if m.bansKept {
		m.server.keeper.keep(banKeyOf(m.header.Match), nil)
	}
}
