package parallel

import "runtime"

// threads reports whether goroutines can run at the same time: WebAssembly has one thread.
const threads = runtime.GOARCH != "wasm"
