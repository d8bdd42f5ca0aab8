//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package replay

import (
	"os"
	"syscall"
)

// tryLock locks a file at once, or returns ErrLocked.
func tryLock(f *os.File, exclusive bool) error {
	if exclusive {
		return flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	}
	return flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
}

func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	switch err := syscall.Flock(int(f.Fd()), how); err {
	case syscall.EWOULDBLOCK:
		return ErrLocked
	case syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS: // this file system has no locks
		return nil
	default:
		return err
	}
}
