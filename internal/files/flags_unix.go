//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW // opening a link fails
	noWait   = syscall.O_NONBLOCK // opening a pipe does not wait for the other end
)

// shared returns who else may write to a folder, or "".
func shared(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return "a folder of another user"
	}
	if m := info.Mode().Perm(); m&0o022 != 0 {
		return fmt.Sprintf("a folder of mode %#o", m)
	}
	return ""
}
