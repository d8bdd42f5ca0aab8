package locksteptest

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// PanicPhase is the phase of a failure that is no difference: the rules panic in the match that is played first.
const PanicPhase = "panic"

// Two phases of which failures say more.
const (
	coldTwinPhase = "cold twin"
	outsidePhase  = "outside"
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
	Stale string        // in the phase "cold twin": the derived field at tick From that decides, and its values
	Under string        // in the phase "outside": what was another; without it, the match has the same result
	Err   error         // any other error, such as a panic

	Options Options // they play the same match again

	game   *lockstep.Game
	played []order // up to the failure
}

func (f *Failure) Error() string {
	if f.Phase == PanicPhase {
		return "locksteptest: the rules panic: " + f.Err.Error()
	}
	s := "locksteptest: " + f.Phase
	if f.From > 0 {
		s += fmt.Sprintf(" of tick %d", f.From)
	}
	s += fmt.Sprintf(": tick %d: ", f.Tick)
	if f.Under != "" {
		s += "with " + f.Under + ": "
	}
	switch {
	case f.Phase == coldTwinPhase:
		s += f.stale()
	case f.Err != nil:
		s += f.Err.Error()
	default:
		s += fmt.Sprintf("%s: got %s, want %s", f.Field, f.Got, f.Want)
	}
	if f.More > 0 {
		s += fmt.Sprintf(" (and %d more fields)", f.More)
	}
	return s
}

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

// stale says what the failure of a cold twin means.
func (f *Failure) stale() string {
	s := "data outside of the state decides: a restored copy "
	if f.Stale != "" {
		s = "derived data is stale: a restored copy "
	}
	if f.Err != nil {
		s += "fails: " + f.Err.Error()
	} else {
		s += fmt.Sprintf("computes %s: got %s, want %s", f.Field, f.Got, f.Want)
	}
	if f.Stale != "" {
		s += fmt.Sprintf(", from the derived field %s", f.Stale)
	}
	return s
}

// section returns the name of the section of a field.
func section(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}
