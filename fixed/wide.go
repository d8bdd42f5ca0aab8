//go:build !(386 || wasm || arm || mips || mipsle)

package fixed

// narrow tells that a 128-bit product costs several instructions. It chooses between two ways to the same bits.
const narrow = false
