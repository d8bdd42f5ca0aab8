package locksteptest

import (
	"reflect"
	"unsafe"

	"github.com/seed-49bee653/samestep/lockstep"
)

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
		if f, ok := r.err.(*Failure); ok {
			f.Stale = r.stale()
		}
	}
}

// stale returns the first derived field that Derive rebuilds from the state of r.from with another value than it has in the
// match, with both values, or nothing.
func (r *trial) stale() string {
	if len(r.game.DerivedFields()) == 0 {
		return ""
	}
	live, err := r.game.NewSimulation(r.header)
	for t := lockstep.Tick(0); t < r.from && err == nil; t++ {
		err = live.Step(r.frame(t))
	}
	if err != nil {
		return ""
	}
	copied, err := r.game.AwaitState(r.header)
	if err != nil || copied.Restore(r.from, r.states[r.from]) != nil {
		return ""
	}
	d := derivedDiff{seen: map[[2]unsafe.Pointer]bool{}}
	d.values("", reflect.ValueOf(copied.AnyWorld()).Elem(), reflect.ValueOf(live.AnyWorld()).Elem(), false)
	return d.found
}
