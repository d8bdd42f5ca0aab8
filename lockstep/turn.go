package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Turn is the argument of Step: one tick and its commands. Step may read it and [Emit] events. It must not keep the
// Turn or anything that it points to.
type Turn struct {
	Tick     Tick
	Commands []Command // in canonical order, with Value set

	observed bool
	events   []any        // emitted by this Step, delivered when it has returned
	result   *resultCodec // nil if the rules have none
	ended    bool         // by this Step
	ending   []byte       // the result's canonical bytes

	drawing bool
	draws   []Draw // of this Step, delivered like events
	phase   string // the present one, while draws are observed

	phased func(name string, sum *checksum.Sum) // nil unless phases are observed; sum is nil if it is to be computed
}

// Phase marks the beginning of a part of Step, such as "combat". An observer (see [Simulation.ObservePhases]) gets the sum of
// the state at each mark, so two machines can tell in which part of a tick their states began to differ. Without one, it
// costs two comparisons.
func (t *Turn) Phase(name string) {
	if t.phased != nil {
		t.phased(name, nil)
	}
	if t.drawing {
		t.phase = name
	}
}

// A Draw is one use of randomness that leaves no trace in the state, such as a number that depends only on a seed, an
// entity and the tick.
type Draw struct {
	Purpose string // in the game's words
	Entity  uint32 // the entity that uses it
	Phase   string // the part of Step that [Turn.Phase] has marked last; "" for none
}

// Drew reports a draw to an observer (see [Simulation.ObserveDraws]), which counts the draws by purpose to find the
// cause of a desync. Without one, it costs a comparison. Draws from a generator in the state need no report, because
// the state tells their number.
func (t *Turn) Drew(purpose string, entity uint32) {
	if t.drawing {
		t.draws = append(t.draws, Draw{purpose, entity, t.phase})
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

// End ends the match with this tick: no tick follows, and its log ends with the result, a value of the type that
// [Rules] name or a pointer to one. Nil ends it without a result. A second call in a tick replaces the result of the
// first one.
//
// Every machine computes the end. That of the referee decides, and a machine that computes another one has a desync. A
// predicted end ends nothing. In a match without a referee nobody decides, and the match goes on until its server ends
// it. End panics in a game whose Rules have no Result, and for a Turn that a test made instead of a [Simulation].
func (t *Turn) End(result any) {
	if t.result == nil {
		panic("lockstep: Turn.End: the Rules of the game have no Result: want Result: lockstep.Result[T](), and in a test the Turn of a Simulation")
	}
	t.ending = t.result.append(t.ending[:0], result)
	if n := len(t.ending); n > record.MaxResult {
		panic(fmt.Sprintf("lockstep: Turn.End: got a result of %d bytes, want at most %d", n, record.MaxResult))
	}
	t.ended = true
}

// noEnd forgets the end of another tick.
func (t *Turn) noEnd() { t.ended, t.ending = false, t.ending[:0] }
