//go:build unix

package server

import "syscall"

// descriptors returns how many files and sockets the process may have open.
func descriptors() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return anyDescriptors
	}
	return int(min(uint64(r.Cur), anyDescriptors))
}
