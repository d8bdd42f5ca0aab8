//go:build unix

package server

import "syscall"

// noFollow makes an open fail at a link, and not wait for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
