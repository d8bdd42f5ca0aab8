//go:build unix

package bots

import (
	"os/exec"
	"syscall"
)

// group gives a process, before its start, a group of its own, which also has all that it starts.
func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the group.
func kill(c *exec.Cmd) {
	syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // an error: it has ended
}
