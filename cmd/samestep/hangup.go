//go:build !js && !wasip1

package main

import (
	"os"
	"syscall"
)

// hangup lists the signals at which files are read again.
var hangup = []os.Signal{syscall.SIGHUP}
