// Package frontend is a page of one's own for the minimal game: files, and a program in wasm. docs/frontend.md shows it.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed page
var page embed.FS

// Page returns the files of the page, for tool.Page.
func Page() fs.FS {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the path is well formed
	}
	return files
}
