package lockstep

// A Turn is what a game's Step is given: one tick, and the commands that run in
// it. Step may read it and [Emit] events; it must not keep it or anything it
// points to.
type Turn struct {
	Tick     Tick
	Commands []Command // in canonical order, with Value set

	observed bool
	events   []any // emitted by this Step, delivered when it has returned
}

// Emit hands an event (an effect, a sound, a statistic) to those who observe
// the simulation. Events are delivered once for each confirmed tick, after its
// Step, in the order of emission. They are not part of the state and there is
// no way to read them back, so they cannot change a result. Where nobody
// observes, as on a server or in verification, Emit costs a comparison and
// allocates nothing.
func Emit[E any](t *Turn, event E) {
	if t.observed {
		t.events = append(t.events, event)
	}
}
