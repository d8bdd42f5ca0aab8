//go:build !js

package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// move moves a file into the store. The order makes every crash harmless: the file leaves its old path last, and whatever was done
// before is done again. Its error is nil also if there is nothing to move, [ErrRefused] if it will not help to try again
// soon, and errErased if the file is deleted.
func (a *Archive) move(ctx context.Context, path string) error {
	e, err := a.prepare(ctx, path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isGone(path) {
		return a.missing(ctx, path)
	}
	if errors.Is(err, errNotOver) {
		a.log.Warn("not archived", "path", path, "err", err)
		return nil
	}
	if err != nil { // the file stays; an operator can see it
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if e == nil { // a server writes it
		return nil
	}
	if err := a.checkName(e); err != nil {
		return err
	}
	if err := a.save(e); err != nil {
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

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// missing ends the move of a file that is no longer in its folder: another process has moved it, or somebody has removed it.
func (a *Archive) missing(ctx context.Context, path string) error {
	name := filepath.Base(path)
	e, err := a.get(name)
	if errors.Is(err, server.ErrArchived) || err == nil && e.Stored {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := a.has(ctx, name)
	if there {
		e.Stored = true
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
		return errErased
	case errors.Is(err, server.ErrArchived):
		return nil
	case err == nil && before.Stored && !agrees(before.ID, e.ID):
		return fmt.Errorf("%w: the archive has %s of another match, with ID %s", ErrRefused, e.Name, before.ID)
	}
	return err
}

// prepare describes a file that waits. It seals and signs a replay if that is missing. Without an error it returns nil
// for a replay that is still written.
func (a *Archive) prepare(ctx context.Context, path string) (*entry, error) {
	e, sealed, err := describeFile(path)
	if e == nil || err != nil || e.Kind != kindReplay || a.o.Seal == nil || sealed && e.Signer == a.o.Signer {
		return e, err
	}
	if err := a.o.Seal(ctx, path); err != nil {
		return nil, err
	}
	e, _, err = describeFile(path)
	return e, err
}
