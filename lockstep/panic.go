package lockstep

import (
	"fmt"
	"runtime/debug"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A PanicError is a panic of the game's own code. The state is unusable after it.
type PanicError struct {
	Tick  Tick   // of the turn in Step, after that of the state in Validate, of the command in Describe, else of the state
	Where string // "Step", "Validate", "Assets", "Load", "New", "Derive", "Describe", "SelfTest", or "Save" of rules elsewhere
	Value any    // the argument of panic; a [*abi.Fault] of rules elsewhere
	Stack []byte
}

func (e *PanicError) Error() string {
	if f, ok := e.Value.(*abi.Fault); ok && f.Limit {
		return fmt.Sprintf("lockstep: tick %d: a limit of the rules is exceeded in %s: %v", e.Tick, e.Where, f)
	}
	return fmt.Sprintf("lockstep: tick %d: the game panicked in %s: %v", e.Tick, e.Where, e.Value)
}

// panicked returns the error of a recovered panic.
func panicked(t Tick, where string, v any) *PanicError {
	if f, ok := v.(*abi.Fault); ok {
		return &PanicError{t, where, f, []byte(f.Stack)}
	}
	//samestep:allow runtime for people: no simulation reads it
	return &PanicError{t, where, v, debug.Stack()}
}
