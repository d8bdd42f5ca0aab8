package pace

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

// Never is a time later than all others.
const Never lockstep.Time = 1<<63 - 1

// A DelayPolicy makes the input delay follow the slowest connection of a player: half its round trip and twice its
// jitter, in ticks. The delay rises after two measurements (see Options.PingEvery) and falls after five. A player pays
// from Rates.Pace for the delay beyond what more than half of the players need.
type DelayPolicy struct {
	Min, Max lockstep.Tick // Max 0 fixes the delay
}

// A WaitPolicy makes the match wait for players, as in classic lockstep, within Rates.Pace.
type WaitPolicy struct {
	// Bound is the time that the match waits for one player in a minute; 0 disables waiting. Rates.Pace limits it
	// further.
	Bound lockstep.Time

	// Lead is how many ticks the match may be ahead of what a player has simulated; 0 means two times AckEvery.
	Lead lockstep.Tick
}

// A SlowPolicy slows the match down for a player whose machine cannot keep up, within Rates.Pace.
type SlowPolicy struct {
	// Percent is the slowest speed, in percent of the set speed; 0 disables slowing.
	Percent uint16

	// Lead is how many ticks a player may be behind; 0 means four times AckEvery.
	Lead lockstep.Tick
}

// Policies are those of a match.
type Policies struct {
	Wait  WaitPolicy
	Slow  SlowPolicy
	Delay DelayPolicy
	Every lockstep.Time // the time between two measurements of the round trips
}

// A Seat is what a Pace sees of a seat.
type Seat struct {
	Here bool          // its player is connected
	Away bool          // its player is lost and may come back
	Live bool          // its connection is in the present
	Lag  lockstep.Tick // ticks that it is behind, if Live

	Measured bool          // Late is known
	Late     lockstep.Time // how long after the host's present the player's commands come
}

// Payers are the accounts that pay for match time.
type Payers interface {
	// Wait counts that the match has waited for an account for another dt, once at each time. It returns for how long it has waited in
	// the present minute, and how much more it may.
	Wait(now lockstep.Time, account budget.ID, dt lockstep.Time) (waited, patience lockstep.Time)

	// Grant charges match time for an interval to an account. It returns the granted part, what the account has used in all, and
	// whether its share is spent.
	Grant(now lockstep.Time, account budget.ID, asks, interval lockstep.Time) (granted, used lockstep.Time, spent bool)

	// GrantAll charges match time for an interval to all players together, and returns the granted part.
	GrantAll(now, asks, interval lockstep.Time) lockstep.Time
}

// A Cost says that a player costs the match time.
type Cost struct {
	Player lockstep.Player
	Text   string
	Used   lockstep.Time // of the player's account
}

// A Wait says why a match stands still or runs slower. All peers are told.
type Wait struct {
	Reason  string            // "" if the match runs
	Players []lockstep.Player // whom it waits for, ascending; nil if it is for nobody
	Since   lockstep.Time
	Until   lockstep.Time // when it ends at the latest; 0 if nobody knows
}

// equal reports whether two waits are the same but for Since.
func (w *Wait) equal(v *Wait) bool {
	return w.Reason == v.Reason && w.Until == v.Until && slices.Equal(w.Players, v.Players)
}

// A Situation is what stops a match besides its Pace.
type Situation struct {
	Over   bool
	Paused bool
	Lobby  Wait // what an open lobby waits for
}
