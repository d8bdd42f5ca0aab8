package locksteptest

const maxTwins = 1000 // cold twins of a match

// coldTwin restores the state before each tick on a new machine, which then steps once. In a match of more than maxTwins
// ticks, it restores the state every few ticks, and each twin steps until the next one.
func (r *trial) coldTwin() {
	every := (r.options.Ticks + maxTwins - 1) / maxTwins
	for r.from = 0; r.from < r.options.Ticks && r.err == nil; r.from += every {
		sim, err := r.game.AwaitState(r.header)
		if r.ok(r.from, err) {
			r.restoreTo(sim, r.from)
			r.goOn(sim, r.from+every, sim.Step)
		}
	}
}
