//go:build !js

package archive

import (
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

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
