//samestep:deterministic
package good

import "hash/fnv"

func sum(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
