//samestep:deterministic
package bad

import "unsafe"

func bits(x *[2]uint32) uint64 {
	return *(*uint64)(unsafe.Pointer(x)) // want `unsafe: `
}
