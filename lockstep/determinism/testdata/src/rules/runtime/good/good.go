//samestep:deterministic
package good

type unit struct{ health int32 }

func alive(units []unit, at uint32) bool { return at < uint32(len(units)) && units[at].health > 0 }
