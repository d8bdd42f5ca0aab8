//go:build !unix

package files

import "io/fs"

// Here an open has no such flags, and folders have no owners that can be compared.
const noFollow, noWait = 0, 0

func shared(fs.FileInfo) string { return "" }
