//samestep:deterministic
package good

func wait(ticks *uint32) {
	if *ticks > 0 {
		*ticks--
	}
}
