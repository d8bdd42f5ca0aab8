package locksteptest

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Failure tells where two computations of one match differ.
type Failure struct {
	Phase string        // as in the package comment
	From  lockstep.Tick // tick of the saved state, in phases that have one
	Tick  lockstep.Tick // the first tick at which they differ
	Field string        // the first field that differs; empty if Err is set
	Got   string        // its value in the phase
	Want  string        // its value in the match that was played first
	More  int           // number of other fields that differ
	Err   error         // any other error, such as a panic

	Options Options // they play the same match again

	game   *lockstep.Game
	played []order // up to the failure
}

func (f *Failure) Error() string {
	s := "locksteptest: " + f.Phase
	if f.From > 0 {
		s += fmt.Sprintf(" of tick %d", f.From)
	}
	s += fmt.Sprintf(": tick %d: ", f.Tick)
	if f.Err != nil {
		return s + f.Err.Error()
	}
	s += fmt.Sprintf("%s: got %s, want %s", f.Field, f.Got, f.Want)
	if f.More > 0 {
		s += fmt.Sprintf(" (and %d more fields)", f.More)
	}
	return s
}

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }
