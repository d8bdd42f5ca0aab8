// Command wasm is the program of the page: it joins and simulates matches, and gives the page frames to draw. It is
// compiled for GOOS=js GOARCH=wasm.
//
// The page's modules call the functions of globalThis.skirmish. These return at once, and throw nothing.
package main

import "syscall/js"

// exports are the functions of globalThis.skirmish. Each file adds its own.
var exports = map[string]function{}

type function func(a arguments) any

// arguments are those of a call from the page.
type arguments []js.Value

// int returns a number, truncated.
func (a arguments) int(i int) int64 { return int64(a[i].Float()) }

func main() {
	object := js.Global().Get("Object").New()
	for name, f := range exports { // a map, but the order does not matter
		object.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) }))
	}
	js.Global().Set("skirmish", object)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("skirmish"))
	select {}
}

// scratch is a buffer for data that goes to the page.
var scratch []byte

// fill copies the bytes that f appends to an array of the page, and returns their number. If that is more than the
// array holds, it copies nothing.
func fill(array js.Value, f func(dst []byte) []byte) any {
	scratch = f(scratch[:0])
	if len(scratch) > array.Length() {
		return len(scratch)
	}
	return js.CopyBytesToJS(array, scratch)
}
