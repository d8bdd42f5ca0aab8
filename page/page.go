// Package page is a game in a browser: the parts that every page shares, and the inspector page, which plays and watches any
// game by its schemas alone. Its program is the game itself, compiled to WebAssembly. So the rules are written once, and a
// browser's checksums agree with all others.
//
//	parts/      ES modules and styles: joining, lobby, connection, news, checks, keys, replays, timeline
//	inspector/  the page of a game without one of its own: state tree, changes, map, forms for commands
//	program/    the program of a page (GOOS=js GOARCH=wasm), a thin layer over:
//	live/       a live match, on a server or in the page itself
//	watch/      a replay, at any tick
//	inspect/    a state by its schema: tree, search, changes, places; commands from forms
//	canvas/     the picture that a game draws of its state
//	input/      clicks and keys on the picture, which become commands
//
// live, watch, inspect, canvas and input are plain Go, and tested without a browser. A page needs two more files:
//
//	NAME.wasm       its program: <meta name="program" content="NAME.wasm"> names it
//	wasm_exec.js    from lib/wasm of the Go that built it
//
// and the server's HTTP interface at /matches. The lobby is shown before the program has arrived, if <meta name="games"
// content="games.json"> names what [program.List] returns; otherwise it waits for the program's list. The service worker of the parts keeps the
// page for visits without a network; what serves the page fills in the names of its files. The fragment of the address selects the screen:
//
//	#/                        the lobby
//	#/now                     a match without a server, on pages that have one
//	#/play/NAME?token=TOKEN   a match, as a player; without a token, with that of the lobby
//	#/watch/NAME              a match, as a spectator
//	#/play/NAME?feed=1        the same, or watch, by views: the page does not simulate; so it is by itself if the server sends nothing else
//	#/replay/NAME             a replay; without a name, a file that is dropped on the page: a replay, two of them, or a bundle;
//	                          :solo is the last match without a server
//	#/replay/NAME?play        the same, and it plays at once
//	#/replay/NAME?t=T         the same at a tick; a page adds its view, and keeps the address up to date
//	#/replay/NAME?t=T&path=P  the same with a field of the state, such as Units[ID=7].Health, or the element that it is in
//	#/replay/NAME?as=VIEWER   the inspector shows what a viewer could see, such as player:3
//	#/replay/A?with=B         two replays of one game, compared tick by tick
package page

import (
	"embed"
	"io/fs"
)

//go:embed parts inspector
var files embed.FS

// Parts returns the modules and styles that all pages share.
func Parts() fs.FS { return sub("parts") }

// Inspector returns the files of the inspector page, index.html among them. It needs the parts and a program inspector.wasm.
func Inspector() fs.FS { return sub("inspector") }

func sub(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the path is well formed
	}
	return f
}
