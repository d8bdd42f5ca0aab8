//go:build linux || darwin || freebsd

package files

import "golang.org/x/sys/unix"

// Free returns the bytes that this process may still write to the disk of a folder.
func Free(dir string) (bytes int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
