package desync

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Parting is where rules have no fixed result: the same tick, computed again, ended in another state.
type Parting struct {
	Tick  lockstep.Tick `json:"tick"`
	Field string        `json:"field,omitempty"` // the first that differs, such as "Units[17].Pos.X"; "" if none is known
	Way   Way           `json:"way"`
}

// A Way is how two computations that ended in different states came to the tick.
type Way string

// The ways.
const (
	// WayAgain: both in the same way.
	WayAgain Way = "again"

	// WayRestored: one came from the ticks before, the other was restored just before the tick.
	WayRestored Way = "restored"

	// WayNew: both were restored just before the tick, one in the place of a state that New had made.
	WayNew Way = "new"

	// WayApart: both were restored just before the tick, one in a process that had computed nothing else.
	WayApart Way = "apart"

	// WayWhole: both came from the ticks before, whose states were not compared.
	WayWhole Way = "whole"

	// WayMachine: both on the machine of the player of a bundle, which says so itself.
	WayMachine Way = "machine"
)

// String says where the results differ, and what to look for.
func (p Parting) String() string {
	where := ""
	if p.Field != "" {
		where = " in " + p.Field
	}
	switch p.Way {
	case WayRestored:
		return fmt.Sprintf("tick %d, simulated again from a state that was restored just before it, has another result%s: something that is not in the state decides, such as a derived field that Derive does not rebuild", p.Tick, where)
	case WayNew:
		return fmt.Sprintf("tick %d, simulated again from the same state, has another result%s if New was called before: New makes something that Derive does not rebuild when a state is restored", p.Tick, where)
	case WayApart:
		return fmt.Sprintf("tick %d, simulated again from the same state, has another result%s in a process that computes nothing else: a package variable that New or another match fills decides, or the time zone or the environment", p.Tick, where)
	case WayWhole:
		return fmt.Sprintf("tick %d, to which the match was simulated twice, has another result%s, or an earlier tick that was not compared: map order, goroutines, time, or randomness or memory outside of the state decide", p.Tick, where)
	case WayMachine:
		return fmt.Sprintf("the player's machine, which computed the ticks again, has more than one result of tick %d: map order, goroutines, time, randomness or memory outside of the state decide, or memory that fails often", p.Tick)
	}
	return fmt.Sprintf("tick %d, simulated again from the same state with the same commands, has another result%s: map order, goroutines, time, or randomness or memory outside of the state decide", p.Tick, where)
}
