package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// An Explanation is what could be found out about a desync. What could not is
// in Notes.
type Explanation struct {
	Match    string            `json:"match"`
	Game     string            `json:"game"`
	Build    string            `json:"build"`
	Recorder string            `json:"recorder"`      // platform of who wrote the replay
	Machine  string            `json:"machine"`       // platform of who explains
	TickRate uint16            `json:"tick_rate"`     // ticks a second
	Tick     lockstep.Tick     `json:"tick"`          // the check that found it
	Agreed   lockstep.Tick     `json:"agreed"`        // the last check at which all was well
	Began    lockstep.Tick     `json:"began"`         // that of the state which the player was sent last; 0 if not known
	Player   lockstep.Player   `json:"player"`        // who was reported; unset on a tie
	Tie      bool              `json:"tie,omitempty"` // there was no referee and no majority
	Section  string            `json:"section"`       // the first section that differed
	Groups   []Group           `json:"groups"`
	Who      []Participant     `json:"participants"`
	Columns  []Column          `json:"columns"` // the time line that the participants' cells are of
	Verdict  Verdict           `json:"verdict"`
	First    Span              `json:"first_divergent_tick"`
	Compared lockstep.Tick     `json:"compared_tick"` // whose states Fields and Places are of
	Fields   state.Differences `json:"fields"`        // A is right, as far as that is known, and B is wrong
	Places   state.Places      `json:"places"`        // the same, grouped
	Cause    *Cause            `json:"cause"`         // nil if no trial ends in the wrong state
	Trials   int               `json:"trials"`        // ticks that were simulated for them
	Changes  []Change          `json:"changes"`       // the last ones of the first fields that differ
	Commands []Touch           `json:"commands"`      // of the first divergent ticks
	Streams  []Stream          `json:"streams"`       // generators in the state
	Draws    []Draws           `json:"draws"`         // without a state
	Traits   []Trait           `json:"traits"`
	Costs    []Cost            `json:"costs,omitempty"`
	Notes    []string          `json:"notes"` // what could not be found out, and why

	good lockstep.Tick // at which the sides were equal last
}

// A Group has the players who reported one checksum, and whether it is that of
// the match simulated again.
type Group struct {
	replay.BundleGroup
	Right bool `json:"right,omitempty"`
}

// A Span are the ticks From to To. It is one tick if both are equal.
type Span struct {
	From lockstep.Tick `json:"from"`
	To   lockstep.Tick `json:"to"`
}

// Exact reports whether the span is one tick.
func (s Span) Exact() bool { return s.From == s.To }

// A Command is a command of the log, for people.
type Command struct {
	Tick     lockstep.Tick     `json:"tick"`
	Player   lockstep.Player   `json:"player"`
	Sequence lockstep.Sequence `json:"sequence"`
	Text     string            `json:"text"`
}

// A Cost is how long a tick took when it was simulated again.
type Cost struct {
	Tick   lockstep.Tick `json:"tick"`
	Micros int64         `json:"micros,string"`
}
