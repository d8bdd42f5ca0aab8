// Command wasm is the program of the page: it joins and simulates matches, and gives the page frames to draw. It is compiled
// for GOOS=js GOARCH=wasm.
//
// The page's modules call the functions of globalThis.skirmish. These return at once, and throw nothing.
package main

import "syscall/js"

// exports are the functions of globalThis.skirmish. Each file adds its own.
var exports = map[string]func(args []js.Value) any{}

func main() {
	object := js.Global().Get("Object").New()
	for name, f := range exports { // a map, but the order does not matter
		object.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) }))
	}
	js.Global().Set("skirmish", object)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("skirmish"))
	select {}
}
