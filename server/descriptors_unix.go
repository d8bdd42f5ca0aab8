//go:build unix

package server

import "syscall"

// descriptors returns the number of file descriptors that the process may have.
func descriptors() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return unlimitedDescriptors
	}
	return int(min(uint64(r.Cur), unlimitedDescriptors))
}
