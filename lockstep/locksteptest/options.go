package locksteptest

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Options say what match is played and how thoroughly it is checked. Of the
// zero value only Config may have to be set.
type Options struct {
	// Config is a pointer to the game's configuration, which New must accept.
	Config any

	// Players is the number of seats; 0 means 4.
	Players uint8

	// Ticks is the length of the match; 0 means 200.
	Ticks lockstep.Tick

	// Every is how often a state is saved, restored, copied and joined: at each
	// so many ticks; 0 means a tenth of Ticks. 1 is the most thorough, and costs
	// a simulation of Span ticks for each tick and phase.
	Every lockstep.Tick

	// Span is for how many ticks a restored state is simulated on; 0 means to
	// the end of the match.
	Span lockstep.Tick

	// Seed is where all randomness comes from, and the seed of the match; 0
	// means 1.
	Seed uint64

	// Choices are used up before Seed: a fuzzer writes the match with them.
	Choices []byte

	// Rate is the mean number of random commands of a player in 16 ticks; 0
	// means 8.
	Rate int

	// Play gives the commands of p for the next tick, beside the random ones:
	// pointers to registered types, at most 128. It reads s, and must depend on
	// nothing else. Nil gives none.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any
}

// filled returns o with its defaults.
func (o Options) filled() Options {
	if o.Players == 0 {
		o.Players = 4
	}
	if o.Ticks == 0 {
		o.Ticks = 200
	}
	if o.Every == 0 {
		o.Every = max(o.Ticks/10, 1)
	}
	if o.Span == 0 {
		o.Span = o.Ticks
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Rate == 0 {
		o.Rate = 8
	}
	return o
}

// line returns the options as Go code that plays the same match.
func (o Options) line() string {
	s := fmt.Sprintf("Players: %d, Ticks: %d, Every: %d, Span: %d, Seed: %d, Rate: %d", o.Players, o.Ticks, o.Every, o.Span, o.Seed, o.Rate)
	if len(o.Choices) > 0 {
		s += fmt.Sprintf(", Choices: []byte(%q)", o.Choices)
	}
	return "locksteptest.Options{" + s + "}"
}
