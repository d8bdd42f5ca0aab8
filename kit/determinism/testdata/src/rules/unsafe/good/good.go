//samestep:deterministic
package good

func bits(x *[2]uint32) uint64 { return uint64(x[0]) | uint64(x[1])<<32 }
