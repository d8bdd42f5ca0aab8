//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package replay

import (
	"os"
	"syscall"
)

func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// locked tries a shared lock, so that programs which ask do not see each other.
func locked(f *os.File) (bool, error) {
	switch err := flock(f, syscall.LOCK_SH); err {
	case nil:
		return false, flock(f, syscall.LOCK_UN)
	case ErrLocked:
		return true, nil
	default:
		return false, err
	}
}

func flock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	switch err {
	case syscall.EWOULDBLOCK:
		return ErrLocked
	case syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS: // this file system has no locks
		return nil
	}
	return err
}
