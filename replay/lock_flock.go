//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package replay

import (
	"os"
	"syscall"
)

func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch err {
	case syscall.EWOULDBLOCK:
		return ErrLocked
	case syscall.ENOLCK, syscall.EOPNOTSUPP, syscall.ENOSYS: // this file system has no locks
		return nil
	}
	return err
}
