//samestep:deterministic
package good

func all(work []func()) {
	for _, f := range work {
		f()
	}
}
