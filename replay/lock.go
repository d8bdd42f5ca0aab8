package replay

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked: another program writes the file.
var ErrLocked = errors.New("another program is writing it")

// Lock keeps other programs from locking a file until it is closed, or its
// program ends, however it does. Whoever writes the match of a file has it
// locked, so that no two go on with it. It returns [ErrLocked] if another one has.
// On systems without such locks it does nothing.
func Lock(f *os.File) error {
	err := lock(f)
	for range lockTries {
		if err != ErrLocked {
			break
		}
		time.Sleep(lockPause)
		err = lock(f)
	}
	if err != nil {
		return fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return nil
}

// A program that asks whether a file is locked locks it itself for a moment.
const (
	lockTries = 100
	lockPause = 5 * time.Millisecond
)

// Locked reports whether a file is locked, by this or another program: its match
// is going on. A file that a crash left behind is not locked. On systems without
// such locks it reports false.
func Locked(f *os.File) (bool, error) {
	is, err := locked(f)
	if err != nil {
		return false, fmt.Errorf("replay: %s: %w", f.Name(), err)
	}
	return is, nil
}

// Replace gives a file, which must be complete, the path of another one, in such
// a way that at any moment, also after a crash, one of the two is there.
func Replace(file, path string) error {
	if err := os.Rename(file, path); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return syncDir(path)
}
