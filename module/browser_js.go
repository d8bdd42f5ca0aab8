package module

import "syscall/js"

func webAssembly() js.Value { return js.Global().Get("WebAssembly") }

// bytesInBrowser copies bytes into a Uint8Array.
func bytesInBrowser(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// compileInBrowser compiles a module.
func compileInBrowser(module []byte) (js.Value, error) {
	return await(webAssembly().Call("compile", bytesInBrowser(module)))
}

// await waits for a promise.
func await(promise js.Value) (v js.Value, err error) {
	done := make(chan struct{})
	then := js.FuncOf(func(_ js.Value, args []js.Value) any { v = args[0]; close(done); return nil })
	defer then.Release()
	failed := js.FuncOf(func(_ js.Value, args []js.Value) any { err = js.Error{Value: args[0]}; close(done); return nil })
	defer failed.Release()
	promise.Call("then", then, failed)
	<-done
	return v, err
}

// catch calls a function and returns what JavaScript has thrown in it.
func catch(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case js.Error:
			err = v
		default:
			panic(v)
		}
	}()
	f()
	return nil
}
