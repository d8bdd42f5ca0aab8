//go:build !js

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-49bee653/samestep/server"
)

// A catalog is a store with its index.
type catalog struct {
	store Store
	index index
	log   *slog.Logger
}

// get returns the entry of a name. Its error is [server.ErrArchived] if there is none, and wraps it if the file is deleted.
func (c *catalog) get(name string) (e *entry, err error) {
	err = c.index.view(func(tx *bolt.Tx) error {
		if e, err = load(tx, name); err != nil || e != nil {
			return err
		}
		_, m, err := loadMatch(tx, name)
		if err == nil && m.deletes(name) {
			return fmt.Errorf("%w: %w", server.ErrArchived, errErased)
		}
		return err
	})
	if err == nil && e == nil {
		err = server.ErrArchived
	}
	return e, err
}

// ask returns the entry of a file that the index does not have yet, because another server has stored it. Its error is
// [server.ErrArchived] if the store has no such file.
func (c *catalog) ask(ctx context.Context, name string) (*entry, error) {
	if kindOf(name) == "" {
		return nil, server.ErrArchived
	}
	ctx, cancel := context.WithTimeout(ctx, userTime)
	defer cancel()
	e, err := readDescription(ctx, c.store, name)
	if err == nil { // a description alone is of a file that is on its way, or was deleted
		_, err = c.size(ctx, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = server.ErrArchived
	}
	return e, err
}

// size returns the size of a file in the store.
func (c *catalog) size(ctx context.Context, name string) (int64, error) {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	f, err := c.store.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
}

// has reports whether the store has a file.
func (c *catalog) has(ctx context.Context, name string) (bool, error) {
	_, err := c.size(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// write writes the description of a file into the store, and looks whether it is there.
func (c *catalog) write(ctx context.Context, e *entry) error {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	if err := writeDescription(ctx, c.store, e); err != nil {
		return err
	}
	var got *entry
	err := soon(ctx, func() (err error) {
		got, err = readDescription(ctx, c.store, e.Name)
		return err
	})
	if err == nil && got.SizeBytes != e.SizeBytes || errors.Is(err, fs.ErrNotExist) {
		err = errors.New("archive: the store has another description, or none, though it said so")
	}
	return err
}

// put puts a file into the store, and looks whether it is there.
func (c *catalog) put(ctx context.Context, e *entry, path string) error {
	up, cancel := within(ctx, e.SizeBytes)
	defer cancel()
	if err := c.store.Put(up, e.Name, path); err != nil {
		return err
	}
	var got int64
	err := soon(ctx, func() (err error) {
		got, err = c.size(ctx, e.Name)
		return err
	})
	if err == nil && got != e.SizeBytes {
		err = fmt.Errorf("archive: the store has %d bytes, want %d", got, e.SizeBytes)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("archive: the store has nothing, though it said so")
	}
	return err
}

// delete deletes a file and its description from the store, and looks whether they are gone.
func (c *catalog) delete(ctx context.Context, name string) error {
	for _, n := range []string{name, descriptionName(name)} { // a file without a description would get a new one
		one, cancel := within(ctx, 0)
		err := c.store.Delete(one, n)
		cancel()
		if err != nil {
			return err
		}
		left, err := c.has(ctx, n)
		if err == nil && left {
			err = fmt.Errorf("archive: the store still has %s, though it said that it is deleted", n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// save brings an entry into the index.
func (c *catalog) save(e *entry) error {
	return c.index.update(func(tx *bolt.Tx) error { return save(tx, e) })
}

// forget removes the entry of a file that waited, and is neither in a folder nor in the store.
func (c *catalog) forget(name string) error {
	return c.index.update(func(tx *bolt.Tx) error { return remove(tx, name) })
}

// waits reports whether a file waits at a server, this one or another one.
func (c *catalog) waits(name string) bool {
	e, err := c.get(name)
	return err == nil && !e.Stored
}

// isGone reports whether there is nothing at a path.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// removeLocal removes a file that waited in a server's folder, with the subjects of its seats.
func removeLocal(path string) error {
	for _, p := range []string{path, ownersPath(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
