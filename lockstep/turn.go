package lockstep

// A Turn is the argument of Step: one tick and its commands. Step may read it and [Emit] events. It must not keep the
// Turn or anything that it points to.
type Turn struct {
	Tick     Tick
	Commands []Command // in canonical order, with Value set

	observed bool
	events   []any // emitted by this Step, delivered when it has returned
	drawing  bool
	draws    []Draw // of this Step, delivered like events
}

// A Draw is one use of randomness that leaves no trace in the state, such as a number that depends only on a seed, an
// entity and the tick.
type Draw struct {
	Purpose string // in the game's words
	Entity  uint32 // the entity that uses it
}

// Drew reports a draw to an observer (see [Simulation.ObserveDraws]), which counts the draws by purpose to find the
// cause of a desync. Without one, it costs a comparison. Draws from a generator in the state need no report, because
// the state tells their number.
func (t *Turn) Drew(purpose string, entity uint32) {
	if t.drawing {
		t.draws = append(t.draws, Draw{purpose, entity})
	}
}

// Emit passes an event, such as an effect, a sound or a statistic, to the observer of the simulation. Each confirmed
// tick delivers its events once, after Step, in order of emission. Events are not part of the state, and the game
// cannot read them back, so they cannot change a result. Without an observer, as on a server or in verification, Emit
// costs a comparison and allocates nothing.
func Emit[E any](t *Turn, event E) {
	if t.observed {
		t.events = append(t.events, event)
	}
}
