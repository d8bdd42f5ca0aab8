// Package web is skirmish in a browser: the page to play and watch it, and the page's program, the game itself compiled
// to WebAssembly. So the rules are written once, and a browser's checksums agree with all others.
//
//	page/      static files: HTML, CSS and small ES modules, on those of the repository's package page
//	wasm/      the program of the page (GOOS=js GOARCH=wasm), a thin layer over:
//	scene/     frames: what to draw of two states, as one block of numbers; films of them
//	play/      camera, selection and orders: from clicks and keys to commands
//	live/      a live match, with its player
//	screen/    the camera over a replay
//
// scene, play, live and screen are plain Go, and tested without a browser. The page needs two more files:
//
//	skirmish.wasm   go build -tags samestep_page -trimpath -ldflags "-s -w" ./examples/skirmish/web/wasm
//	wasm_exec.js    from lib/wasm of the Go that built it
//
// and what all pages need (see [page.Parts]). page/backdrop.film.br is the battle behind the title: a [scene.Film], compressed,
// which the page plays before its program has arrived. TestBackdrop writes it again. The fragment of the address selects the screen, as on all pages.
package web

import (
	"embed"
	"io/fs"
)

//go:embed page
var page embed.FS

// Page returns the files of the page, index.html among them, without those of [page.Parts].
func Page() fs.FS {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the path is well formed
	}
	return files
}
