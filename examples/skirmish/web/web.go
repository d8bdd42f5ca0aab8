// Package web is skirmish in a browser: the page on which it is played and
// watched, and the program that the page runs, which is the game itself compiled
// to WebAssembly. Nothing of the rules is written twice: a browser's state has
// the checksums of every other's.
//
//	page/      what a browser is given as it is: HTML, CSS and small ES modules
//	wasm/      the program of the page (GOOS=js GOARCH=wasm), a thin layer over:
//	scene/     what is to be drawn of two states, as one block of numbers a frame
//	play/      camera, selection and orders: from clicks and keys to commands
//	live/      a live match with all that: what the page of a match calls
//	watch/     a recorded match, at any tick of it
//
// scene, play, live and watch are plain Go without a browser, and tested as such. The page
// expects two more files beside its own:
//
//	skirmish.wasm   go build -trimpath -ldflags "-s -w" ./examples/skirmish/web/wasm
//	wasm_exec.js    from lib/wasm of the Go that built it
//
// and the server's HTTP interface at its root: /matches and below. Where the page
// is to go is said behind the # of its address:
//
//	#/                        the lobby
//	#/play/NAME?token=TOKEN   a match, as a player; without a token, with that of the lobby
//	#/watch/NAME              a match, as a spectator
//	#/replay/NAME             a recorded match; without a name, one that is dropped on the page
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
