package replay

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the last byte that a file could have: Windows refuses to read or write a locked byte through any other handle.
func lockedByte() *windows.Overlapped {
	return &windows.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}
}

// tryLock locks a file at once, or returns ErrLocked.
func tryLock(f *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, lockedByte()); err {
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return ErrLocked
	case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED: // this file system has no locks
		return nil
	default:
		return err
	}
}

func unlock(f *os.File) error {
	switch err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte()); err {
	case windows.ERROR_NOT_LOCKED: // this file system has no locks
		return nil
	default:
		return err
	}
}
