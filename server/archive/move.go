//go:build !js

package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

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

// list brings a file that waits into the index. Its error is errListed if the file still waits, and otherwise as that of move.
func (a *Archive) list(ctx context.Context, path string) error {
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
