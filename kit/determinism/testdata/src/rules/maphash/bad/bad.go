//samestep:deterministic
package bad

import "hash/maphash"

func sum(name string) uint64 {
	return maphash.String(maphash.MakeSeed(), name) // want `maphash: `
}
