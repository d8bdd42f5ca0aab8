//go:build !js

package archive

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
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
