//samestep:deterministic
package bad

func wait() {
	select {} // want `select: `
}
