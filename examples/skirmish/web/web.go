// Package web is skirmish in a browser: the page to play and watch it, and the page's program, the game itself compiled
// to WebAssembly. So the rules are written once, and a browser's checksums agree with all others.
//
//	page/      static files: HTML, CSS and small ES modules
//	wasm/      the program of the page (GOOS=js GOARCH=wasm), a thin layer over:
//	scene/     frames: what to draw of two states, as one block of numbers
//	play/      camera, selection and orders: from clicks and keys to commands
//	live/      a live match
//	watch/     a replay, at any tick
//
// scene, play, live and watch are plain Go, and tested without a browser. The page needs two more files:
//
//	skirmish.wasm   go build -trimpath -ldflags "-s -w" ./examples/skirmish/web/wasm
//	wasm_exec.js    from lib/wasm of the Go that built it
//
// and the server's HTTP interface at /matches. The fragment of the address selects the screen:
//
//	#/                        the lobby
//	#/play/NAME?token=TOKEN   a match, as a player; without a token, with that of the lobby
//	#/watch/NAME              a match, as a spectator
//	#/replay/NAME             a replay; without a name, a file that is dropped on the page
package web

import (
	"embed"
	"io/fs"
)

//go:embed page
var page embed.FS

// Page returns the files of the page, index.html among them.
func Page() fs.FS {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the path is well formed
	}
	return files
}
