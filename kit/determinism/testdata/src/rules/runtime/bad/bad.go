//samestep:deterministic
package bad

import (
	"math/bits"
	"runtime"
	"sync"
	"weak"
)

func spread() int {
	return runtime.NumGoroutine() + runtime.NumCPU() // want `runtime: `
}

func platform() bool {
	return runtime.GOARCH == "amd64" // want `runtime: `
}

type unit struct{ name string }

func alive(u weak.Pointer[unit]) bool {
	return u.Value() != nil // want `runtime: `
}

func bury(u *unit) {
	runtime.SetFinalizer(u, func(*unit) {}) // want `runtime: `
}

func reuse(p *sync.Pool) any {
	return p.Get() // want `runtime: `
}

func wide() bool {
	return bits.UintSize == 64 // want `runtime: `
}

const word = 32 << (^uint(0) >> 63) // want `runtime: `

func half() int {
	return word / 2
}
