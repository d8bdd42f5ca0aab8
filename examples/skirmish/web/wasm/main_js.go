// Command wasm is the program of the page: it joins matches and simulates them,
// and tells the page what to draw. It is compiled for GOOS=js GOARCH=wasm.
//
// It gives the page one object, globalThis.skirmish, whose functions the page's
// modules call. They answer at once, and throw nothing.
package main

import "syscall/js"

// exports are the functions of globalThis.skirmish. Each file adds its own.
var exports = map[string]func(args []js.Value) any{}

func main() {
	object := js.Global().Get("Object").New()
	for name, f := range exports { // a map, but each is only set
		object.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) }))
	}
	js.Global().Set("skirmish", object)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("skirmish"))
	select {}
}
