package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

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
