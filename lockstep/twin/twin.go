// Package twin has the options and the result of the heavy mode, in which a follower of a match compares itself with cold twins.
//
// A twin is what a late joiner would have: a new simulation that is restored from the follower's canonical bytes, steps the same
// frames beside it for 1 to 16 ticks, and is dropped. It differs where a result depends on something that is not in the state, such as
// a stale cache. The follower's own state is never touched, and nobody is accused.
//
//	o := lockstep.FollowerOptions{Heavy: twin.Options{Percent: 10, Found: func(d *twin.Difference) { fmt.Println(d) }}}
//
//samestep:deterministic
package twin

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Options say how a follower is compared with twins. The zero value makes none.
type Options struct {
	// Percent is how much time the twins may take of that of the follower's own steps: 1 to 100, 0 for no twins. A match has a twin
	// when it has paid for the last one, and twice for its first, so all matches together stay within the share as well.
	Percent int

	// Clock returns a time in nanoseconds, to measure steps with. Nil counts ticks instead, and a restored state as two.
	Clock func() int64

	// Busy is called when the rules begin to compute for a twin, and when they are done, so that the caller can end rules that hang. Nil is for
	// nobody.
	Busy func(begins bool)

	// Found is called with the first difference of each section of the state, after the tick. Nil is for nobody.
	Found func(*Difference)

	// Count counts the twins; nil does not.
	Count *Count
}

// A Count is how many twins a follower has had, and the ticks that they have stepped.
type Count struct{ Twins, Ticks uint64 }

// A Difference is where a follower, which is warm, and its cold twin begin to differ.
type Difference struct {
	Tick  record.Tick // the first that differs
	Since record.Tick // the twin was restored from the follower's state after it
	Began record.Tick // the follower itself went on from a state of it: 0 is the beginning of the match

	Section    string // the first section that differs; "" if only the end of the match does, or the twin panicked
	Path       string // the first field in it
	Warm, Cold string // its values; or how the tick ended
	Fields     int    // that differ

	// Unfixed says that another twin, from the same bytes, had a third result: the rules have no fixed result.
	Unfixed bool

	// Canonical bytes: of the state after Since, and of both after Tick. ColdState is nil if the twin panicked.
	Before, WarmState, ColdState []byte
}

func (d *Difference) String() string {
	s := fmt.Sprintf("warm and cold differ at tick %d, restored at tick %d: ", d.Tick, d.Since)
	if d.Unfixed {
		s = fmt.Sprintf("no fixed result at tick %d, restored twice at tick %d: ", d.Tick, d.Since)
	}
	if d.Path != "" {
		s += d.Path + " "
	}
	return s + d.Warm + ", cold " + d.Cold
}
