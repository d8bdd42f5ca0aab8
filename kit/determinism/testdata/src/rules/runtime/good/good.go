//samestep:deterministic
package good

type unit struct{ health int32 }

func alive(units []unit, at uint32) bool { return at < uint32(len(units)) && units[at].health > 0 }

func low(mask uint64) uint64 { return ^mask & 0xffff }
