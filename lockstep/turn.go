package lockstep

// A Turn is what a game's Step is given: one tick, and the commands that run in it. Step may read it and [Emit] events;
// it must not keep it or anything it points to.
type Turn struct {
	Tick     Tick
	Commands []Command // in canonical order, with Value set

	observed bool
	events   []any // emitted by this Step, delivered when it has returned
	drawing  bool
	draws    []Draw // of this Step, delivered as events are
}

// A Draw is one use of randomness that leaves no trace in the state, such as a draw that depends on a seed, an entity
// and the tick alone.
type Draw struct {
	Purpose string // what for, in the game's words
	Entity  uint32 // for whom
}

// Drew tells of a draw those who look for the reason of a desync: they count the draws by purpose (see
// [Simulation.ObserveDraws]). Everywhere else it costs a comparison. Draws from a generator in the state need not be
// told, as its state tells how many there were.
func (t *Turn) Drew(purpose string, entity uint32) {
	if t.drawing {
		t.draws = append(t.draws, Draw{purpose, entity})
	}
}

// Emit hands an event (an effect, a sound, a statistic) to those who observe the simulation. Events are delivered once
// for each confirmed tick, after its Step, in the order of emission. They are not part of the state and there is no way
// to read them back, so they cannot change a result. Where nobody observes, as on a server or in verification, Emit
// costs a comparison and allocates nothing.
func Emit[E any](t *Turn, event E) {
	if t.observed {
		t.events = append(t.events, event)
	}
}
