package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Group is the players who reported one checksum. It is Right if the re-simulation gives the same checksum.
type Group struct {
	replay.BundleGroup
	Right bool `json:"right,omitempty"`
}

// A Span is the ticks From to To, both included.
type Span struct {
	From lockstep.Tick `json:"from"`
	To   lockstep.Tick `json:"to"`
}

// Exact reports whether the span is one tick.
func (s Span) Exact() bool { return s.From == s.To }

// A Command is a command of the log, described as text.
type Command struct {
	Tick     lockstep.Tick     `json:"tick"`
	Player   lockstep.Player   `json:"player"`
	Sequence lockstep.Sequence `json:"sequence"`
	Text     string            `json:"text"`
}

// A Cost is the time that the re-simulation of a tick took.
type Cost struct {
	Tick   lockstep.Tick `json:"tick"`
	Micros int64         `json:"micros,string"`
}
