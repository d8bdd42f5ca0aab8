//go:build !js

package archive

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A catalog is a store with its index.
type catalog struct {
	store Store
	index index
	log   *slog.Logger
}

// get returns the entry of a name. Its error is [server.ErrArchived] if there is none.
func (c *catalog) get(name string) (e *entry, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		e, err = load(tx, name)
		return err
	})
	if err == nil && e == nil {
		err = server.ErrArchived
	}
	return e, err
}

// ask returns the entry of a file that the index does not have yet, because another server has stored it. Its error is
// [server.ErrArchived] if the store has no description of such a file.
func (c *catalog) ask(ctx context.Context, name string) (*entry, error) {
	if kindOf(name) == "" {
		return nil, server.ErrArchived
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	e, err := readDescription(ctx, c.store, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = server.ErrArchived
	}
	return e, err
}

// askTime is the time limit of a question to the store.
const askTime = 10 * time.Second

// save brings an entry into the index.
func (c *catalog) save(e *entry) error {
	return c.index.update(func(tx *bolt.Tx) error { return save(tx, e) })
}

// group returns the names that are deleted with a file: a replay comes after its bundles, so that a crash leaves no
// bundle alone. Its error is [server.ErrArchived] if there is no such file.
func (c *catalog) group(name string) (names []string, err error) {
	e, err := c.get(name)
	if err != nil {
		return nil, err
	}
	if e.Kind == kindReplay {
		err = c.index.view(func(tx *bolt.Tx) error {
			names = companions(tx, name)
			return nil
		})
	}
	return append(names, name), err
}

// companions returns the names of the bundles of a replay, and of their pages.
func companions(tx *bolt.Tx, name string) (names []string) {
	prefix := strings.TrimSuffix(name, ".ssr") + "-desync-"
	c := tx.Bucket(byName).Cursor()
	for key, _ := c.Seek([]byte(prefix)); strings.HasPrefix(string(key), prefix); key, _ = c.Next() {
		names = append(names, string(key))
	}
	return names
}

// delete removes a file from the store and then from the index, so that a crash between them forgets no file.
func (c *catalog) delete(ctx context.Context, name string) error {
	for _, n := range []string{name, descriptionName(name)} {
		if err := c.store.Delete(ctx, n); err != nil {
			return err
		}
	}
	return c.index.update(func(tx *bolt.Tx) error { return remove(tx, name) })
}
