//go:build !unix && !js

package bots

import (
	"os/exec"
	"runtime"
	"strconv"
)

// group does nothing: see kill.
func group(*exec.Cmd) {}

// kill ends a process, and on Windows all that it has started.
func kill(c *exec.Cmd) {
	if runtime.GOOS == "windows" {
		exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(c.Process.Pid)).Run() // an error: it has ended
	}
	c.Process.Kill()
}
