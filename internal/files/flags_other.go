//go:build !unix

package files

import "io/fs"

// This system has no such flags, and its folders have no owners to compare.
const noFollow, noWait = 0, 0

func shared(fs.FileInfo) string { return "" }
