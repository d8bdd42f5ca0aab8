package replay

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked: another program writes the file.
var ErrLocked = errors.New("another program is writing it")

// Lock keeps other programs from locking a file until it is closed or its program ends. The writer of a match keeps its
// file locked, so that no two servers continue one match. Lock returns [ErrLocked] if another program has the lock. It
// does nothing where the system or the file system has no such locks.
func Lock(f *os.File) error {
	err := tryLock(f, true)
	for range lockTries {
		if err != ErrLocked {
			break
		}
		time.Sleep(lockPause)
		err = tryLock(f, true)
	}
	if err != nil {
		return fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return nil
}

// Locked holds a shared lock for a moment, so Lock tries again.
const (
	lockTries = 100
	lockPause = 5 * time.Millisecond
)

// Locked reports whether this or another program has a file locked: its match is still running. A file left by a crash
// is not locked. Locked reports false where the system or the file system has no such locks.
func Locked(f *os.File) (bool, error) {
	err := tryLock(f, false) // shared, so that two calls do not see each other
	if err == nil {
		err = unlock(f)
	}
	if err != nil && err != ErrLocked {
		return false, fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return err == ErrLocked, nil
}
