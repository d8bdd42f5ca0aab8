package parallel

import "runtime"

// threads reports whether goroutines can run at the same time: WebAssembly has one thread.
//
//samestep:allow runtime no result depends on it
const threads = runtime.GOARCH != "wasm"
