//go:build !js

package archive

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// The buckets of the index. A place is the time of a file's end and its name, so places are in the order of time.
var (
	byName    = []byte("files")    // name → entry
	byEnd     = []byte("ended")    // place → size, and whether it is stored
	byPlayer  = []byte("players")  // name of a player in lower case, 0, place
	bySubject = []byte("subjects") // subject, 0, place
	byMatch   = []byte("matches")  // key of a match → match
	byTomb    = []byte("deleted")  // name of a file with a tombstone → nothing
	byLimits  = []byte("limits")   // limitsKey → limits; an index may have none yet
	buckets   = [][]byte{byName, byEnd, byPlayer, bySubject, byMatch, byTomb}
)

// indexWait is how long an operation waits for another process that uses the index.
const indexWait = 30 * time.Second

// errIndex is wrapped by the errors of an index that cannot be read. It can be rebuilt.
var errIndex = errors.New("archive: the index is damaged; remove it, or make it again with the verb replay index")

// An index is a bbolt database. It is open only during an operation, so that several processes can use it.
type index struct {
	path string
	mu   sync.RWMutex // between the goroutines of this process

	adjust func(*bolt.Options) // for tests; nil otherwise
}

// exists reports whether there is an index.
func (x *index) exists() bool {
	_, err := os.Stat(x.path)
	return err == nil
}

// view reads the index. Without one, it does not call f.
func (x *index) view(f func(tx *bolt.Tx) error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !x.exists() {
		return nil
	}
	return x.open(true, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			for _, name := range buckets {
				if tx.Bucket(name) == nil {
					return nil // a crash while it was made
				}
			}
			return f(tx)
		})
	})
}

// update changes the index. When it returns nil, the change is on the disk.
func (x *index) update(f func(tx *bolt.Tx) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open(false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error {
			for _, name := range buckets {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			return f(tx)
		})
	})
}

// open calls f with the database. A damaged file makes bbolt panic, also by reading beyond its end.
func (x *index) open(readOnly bool, f func(*bolt.DB) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %s: %v", errIndex, x.path, v)
		}
	}()
	o := &bolt.Options{Timeout: indexWait, ReadOnly: readOnly, NoFreelistSync: true, FreelistType: bolt.FreelistMapType}
	if x.adjust != nil {
		x.adjust(o)
	}
	db, err := bolt.Open(x.path, 0o600, o)
	var unopened *fs.PathError
	switch {
	case errors.As(err, &unopened) && unopened.Op == "open": // no path, no permission, no room
		return fmt.Errorf("archive: %w", err)
	case err != nil && strings.Contains(err.Error(), "timeout"):
		return fmt.Errorf("archive: %s: in use by another process", x.path)
	case err != nil:
		return fmt.Errorf("%w: %s: %w", errIndex, x.path, err)
	}
	defer db.Close()
	return f(db)
}

// place returns the place of an entry.
func (e *entry) place() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(max(e.Ended.Unix(), 0))), e.Name...)
}

// placeName returns the name in a place.
func placeName(place []byte) string { return string(place[8:]) }

// under returns the prefix of the places that belong to a word.
func under(word string) []byte { return append([]byte(word), 0) }

// words calls f with the bucket and the prefix of each word by which an entry is found.
func (e *entry) words(f func(bucket, prefix []byte) error) error {
	for _, p := range e.Players {
		if err := f(byPlayer, under(playerWord(p.Name))); err != nil {
			return err
		}
	}
	for _, s := range e.Subjects {
		if err := f(bySubject, under(s)); err != nil {
			return err
		}
	}
	return nil
}

// playerWord is a player's name as the index has it.
func playerWord(name string) string { return strings.ToLower(name) }

// load returns the entry of a name, or nil.
func load(tx *bolt.Tx, name string) (*entry, error) {
	b := tx.Bucket(byName).Get([]byte(name))
	if b == nil {
		return nil, nil
	}
	e := &entry{}
	if err := json.Unmarshal(b, e); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errIndex, name, err)
	}
	return e, nil
}

// save adds an entry, in place of one of the same name. Its error is errErased if the file is deleted.
func save(tx *bolt.Tx, e *entry) error {
	if err := removeEntry(tx, e.Name); err != nil {
		return err
	}
	if err := putMatch(tx, e); err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	place := e.place()
	if err := tx.Bucket(byName).Put([]byte(e.Name), b); err != nil {
		return err
	}
	if err := tx.Bucket(byEnd).Put(place, sizeAndState(e)); err != nil {
		return err
	}
	return e.words(func(bucket, prefix []byte) error { return tx.Bucket(bucket).Put(append(prefix, place...), []byte{}) })
}

// remove removes a file that is neither in the store nor in a folder, if there is one.
func remove(tx *bolt.Tx, name string) error {
	key, m, err := loadMatch(tx, name)
	if err != nil {
		return err
	}
	m.lose(name)
	return errors.Join(saveMatch(tx, key, m), removeEntry(tx, name))
}

// removeEntry removes the entry of a name, if there is one.
func removeEntry(tx *bolt.Tx, name string) error {
	e, err := load(tx, name)
	if e == nil || err != nil {
		return err
	}
	place := e.place()
	if err := tx.Bucket(byName).Delete([]byte(name)); err != nil {
		return err
	}
	if err := tx.Bucket(byEnd).Delete(place); err != nil {
		return err
	}
	return e.words(func(bucket, prefix []byte) error { return tx.Bucket(bucket).Delete(append(prefix, place...)) })
}

// errErased: the file is deleted.
var errErased = errors.New("archive: the file is deleted")

// sizeAndState is what retention needs to know of an entry: its size, and whether it is stored.
func sizeAndState(e *entry) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(e.SizeBytes))
	if e.Stored {
		return append(b, isStored)
	}
	return append(b, 0)
}

const isStored = 1

// stem is a name without its extension.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// A state is where a file is on its way through the archive. A file of which nothing is known has none.
//
//	waiting ◄─► stored
//	   └──────────┴──► deleting
type state string

const (
	waiting  state = "waiting"  // it is in a server's folder, and the store does not have it for certain
	stored   state = "stored"   // the store has it
	deleting state = "deleting" // nobody gets it any more; a folder or the store may still have it
)

// A match is what the index knows about the files of one match: its replay, its bundles, and the pages about them. It does
// no I/O. A match is its ID and the name of its replay: other matches have either another name or another ID.
type match struct {
	Replay string           `json:"replay"`       // the name of its replay, which may be missing
	ID     string           `json:"id,omitempty"` // as many digits as are known
	Files  map[string]*file `json:"files"`        // by name
}

// A file is a file of a match. One that is deleted is a tombstone, which stays as long as the file can come back.
type file struct {
	State     state  `json:"state"`
	SizeBytes int64  `json:"bytes,omitempty"`
	Path      string `json:"path,omitempty"`   // of a tombstone: where the file waited
	Waits     bool   `json:"waits,omitempty"`  // a server has it in its folder; of a tombstone: another one, which has not removed it yet
	Until     int64  `json:"until,omitempty"`  // of a tombstone: the time in seconds until which the store may still do what it was asked before
	Erased    int64  `json:"erased,omitempty"` // of a tombstone: when the file was deleted from the folder and the store; 0 for not, or not again
}

// lateTime is how long after a request, and the time that it may take, a store may still do what it was asked.
const lateTime = time.Hour

// bury turns a file into a tombstone. The file waits at a path, unless that is empty.
func (f *file) bury(path string, now time.Time) {
	f.Waits = f.Waits && path == ""
	f.State, f.Path, f.Erased = deleting, path, 0
	f.Until = now.Add(lateTime + timeFor(f.SizeBytes)).Unix()
}

// due reports whether a file is to be deleted now. It is deleted at once, and again when the store has certainly done what it was asked.
func (f file) due(now int64) bool {
	return f.State == deleting && (f.Erased == 0 || f.Erased < f.Until && f.Until <= now)
}

// over reports whether a tombstone may go.
func (f *file) over() bool {
	return f.State == deleting && !f.Waits && f.Erased > 0 && f.Erased >= f.Until
}

// replayOf returns the name of the replay that a file belongs to: itself for a replay.
func replayOf(name string) string {
	if replay := server.ReplayOf(name); replay != "" {
		return replay
	}
	return name
}

// agrees reports whether two IDs can be of the same match. The name of a bundle has only the first digits of one.
func agrees(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// ends reports whether the match itself is deleted, with its replay.
func (m *match) ends() bool {
	f := m.Files[m.Replay]
	return f != nil && f.State == deleting
}

// deletes reports whether a file of the match is deleted, or would be if it came.
func (m *match) deletes(name string) bool {
	f := m.Files[name]
	return m.ends() || f != nil && f.State == deleting
}

// file returns what is known of a file, which may be nothing.
func (m *match) file(name string) file {
	if f := m.Files[name]; f != nil {
		return *f
	}
	return file{}
}

// put notes that a file waits or is stored, or both, and reports false for one that is deleted.
func (m *match) put(name, id string, s state, sizeBytes int64, waits bool) bool {
	if m.deletes(name) {
		return false
	}
	if len(id) > len(m.ID) {
		m.ID = id
	}
	m.Files[name] = &file{State: s, SizeBytes: sizeBytes, Waits: waits}
	return true
}

// lose notes that neither the store nor a folder has a file any more. A tombstone stays.
func (m *match) lose(name string) {
	if f := m.Files[name]; f != nil && f.State != deleting {
		delete(m.Files, name)
	}
}

// erase begins to delete a file of the match: with the replay all others, and with a bundle its page. Those that wait are at
// these paths. It returns the names of the files that are deleted.
func (m *match) erase(name string, paths map[string]string, now time.Time) (names []string) {
	for _, n := range slices.Sorted(maps.Keys(m.Files)) {
		f := m.Files[n]
		if f.State != deleting && (n == name || name == m.Replay || kindOf(name) == kindBundle && stem(n) == stem(name)) {
			f.bury(paths[n], now)
			names = append(names, n)
		}
	}
	return names
}

// erased notes that a file that was to be deleted is nowhere now, and returns the names whose tombstones go. That of the replay,
// which keeps out what comes late, stays until every other file is gone.
func (m *match) erased(name string, now int64) (over []string) {
	if f := m.Files[name]; f != nil {
		f.Erased = now
	}
	for n, f := range m.Files {
		if f.over() && n != m.Replay {
			delete(m.Files, n)
			over = append(over, n)
		}
	}
	if f := m.Files[m.Replay]; f != nil && f.over() && len(m.Files) == 1 {
		delete(m.Files, m.Replay)
		over = append(over, m.Replay)
	}
	return over
}

// comeBack notes that a deleted file was seen again, or that its server has removed it from its folder now.
func (m *match) comeBack(name string, removed bool, now time.Time) {
	f := m.Files[name]
	if f == nil { // it comes late, and the match is deleted
		f = &file{}
		m.Files[name] = f
	}
	waits := f.Waits && !removed
	f.bury(f.Path, now)
	f.Waits = waits
}

// with returns the stored bundles and pages that go with a file, and itself if it is one: all of them with the replay, and otherwise a
// bundle and its page.
func (m *match) with(name string) (names []string) {
	for n, f := range m.Files {
		if kindOf(n) != kindReplay && f.State == stored && (name == m.Replay || stem(n) == stem(name)) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// loadMatch returns the match of a file, which may have no files, and its key. A file whose ID is that of another match than its
// name says has a match of its own, under its own name.
func loadMatch(tx *bolt.Tx, name string) (key string, m *match, err error) {
	for _, key := range []string{replayOf(name), name} {
		if m, err = matchAt(tx, key); err != nil || m.Files[name] != nil {
			return key, m, err
		}
	}
	key = replayOf(name)
	m, err = matchAt(tx, key)
	return key, m, err
}

func matchAt(tx *bolt.Tx, key string) (*match, error) {
	m := &match{Replay: key, Files: make(map[string]*file)}
	if b := tx.Bucket(byMatch).Get([]byte(key)); b != nil {
		if err := json.Unmarshal(b, m); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errIndex, key, err)
		}
	}
	return m, nil
}

func saveMatch(tx *bolt.Tx, key string, m *match) error {
	if len(m.Files) == 0 {
		return tx.Bucket(byMatch).Delete([]byte(key))
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return tx.Bucket(byMatch).Put([]byte(key), b)
}

// putMatch adds a file to its match.
func putMatch(tx *bolt.Tx, e *entry) error {
	key, m, err := loadMatch(tx, e.Name)
	if err != nil {
		return err
	}
	if d := m.deletes(e.Name); !agrees(m.ID, e.ID) { // whatever the names say
		if d {
			return fmt.Errorf("%w: %s of another match, with ID %s, is being deleted", ErrRefused, e.Name, m.ID)
		}
		if key, m, err = part(tx, key, m, e.Name); err != nil {
			return err
		}
	}
	s, waits := waiting, true
	if e.Stored { // only its own server knows that it does not wait any more
		s, waits = stored, !e.here && m.file(e.Name).Waits
	}
	if !m.put(e.Name, e.ID, s, e.SizeBytes, waits) {
		return errErased
	}
	return saveMatch(tx, key, m)
}

// part parts a file, which has another ID, from the others that its match has by their names. It returns the match of the file.
func part(tx *bolt.Tx, key string, m *match, name string) (string, *match, error) {
	rest := &match{Replay: key, ID: m.ID, Files: m.Files}
	delete(rest.Files, name)
	if name != key {
		m, err := matchAt(tx, name)
		return name, m, errors.Join(err, saveMatch(tx, key, rest))
	}
	for n, f := range rest.Files { // each is written under its own key
		if err := saveMatch(tx, n, &match{Replay: n, ID: rest.ID, Files: map[string]*file{n: f}}); err != nil {
			return key, m, err
		}
	}
	return key, &match{Replay: key, Files: make(map[string]*file)}, nil
}
