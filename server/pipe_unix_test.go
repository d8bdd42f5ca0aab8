//go:build unix && !solaris && !aix

package server_test

import "syscall"

// pipe makes a pipe with a name.
func pipe(path string) error { return syscall.Mkfifo(path, 0o666) }
