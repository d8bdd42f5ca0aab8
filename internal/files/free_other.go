//go:build !(linux || darwin || freebsd || windows)

package files

// Free reports false: this system does not say.
func Free(string) (bytes int64, known bool) { return 0, false }
