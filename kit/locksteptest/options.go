package locksteptest

import (
	"cmp"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Options describe the match to play and how thoroughly to check it. Only Config may be required.
type Options struct {
	Config  any           // pointer to the game's configuration, which New must accept
	Players uint8         // number of seats; 0 means 4
	Ticks   lockstep.Tick // length of the match; 0 means that of a match of Play alone, at most 1000, and 200 without Play
	Span    lockstep.Tick // number of ticks to simulate from a restored state; 0 means to the end of the match
	Redo    lockstep.Tick // number of ticks to predict and then to compute again; 0 means 8
	Skip    []string      // phases to leave out, of those that the package comment lists after the first ones
	Seed    uint64        // of the match and of all randomness; 0 means 1
	Choices []byte        // random choices to use before those of Seed, from a fuzzer
	Rate    int           // mean number of random commands of a player in 16 ticks; 0 means 8

	// Weights are the relative frequencies of random commands by the name of their kind. A kind without one has 1, and 0
	// excludes a kind, such as one that ends the match.
	Weights map[string]int

	// AllowThin is the reason why the match proves enough although most of its commands do nothing. Without one, such a
	// match fails (see [ErrThin]).
	AllowThin string

	// Every is the interval in ticks at which a state is saved, restored, copied and joined; 0 means a tenth of Ticks. 1 is
	// the most thorough, and simulates Span ticks for each tick and phase.
	Every lockstep.Tick

	// Floor is the least that a match must reach. One below it fails, as one that is thin.
	Floor Floor

	// Changes is the mean number of times in 64 ticks that a player leaves, disconnects, is replaced by a bot or returns, or
	// that the match pauses or changes its speed; 0 means 2, and a negative number none.
	Changes int

	// Play returns the commands of p for the next tick, in addition to random ones: at most 128 pointers to registered
	// types. It reads s, and must depend on nothing else. Nil means none.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any

	// Orders, unless nil, are all commands of the match, by ascending tick, in place of random ones and those of Play.
	Orders []Order

	// Render is called with views of the match, as a client's renderer is, and must only read them. Nil disables it.
	Render func(player.Interpolation)
}

// A Floor is the least that a match must reach, or that all matches of a verdict must reach together. A negative number asks for
// nothing, and 0 for the default.
type Floor struct {
	Ticks int // of one match; the default is 1

	// Kinds is the percentage of the kinds of commands, without those that Weights excludes, of which one must be accepted. The default is
	// 60 for matches together. In a match alone, one command must be accepted.
	Kinds int

	// Fields is the percentage of the state's fields that must change (see [Reached]). The default is 50 for matches together and for
	// a golden match, and 25 for a match alone.
	Fields int
}

// of returns the floor with the defaults of a match alone or of matches together.
func (f Floor) of(together bool) Floor {
	f.Ticks = cmp.Or(f.Ticks, 1)
	if together {
		f.Kinds, f.Fields = cmp.Or(f.Kinds, 60), cmp.Or(f.Fields, 50)
	}
	f.Fields = cmp.Or(f.Fields, 25)
	return f
}

// An Order is a command written down. For one of System, Value points to a lockstep.Joined (also for a return), Left, Lost,
// TakenOver, Paused, Resumed or SpeedSet, and the command comes before those of the players for its tick.
type Order struct {
	Tick   lockstep.Tick // the next tick to be sealed when the command is submitted
	Player lockstep.Player
	Kind   lockstep.Kind // 0: the kind of the type of Value
	Value  any           // a pointer to a registered type
}

const (
	unknown = 200   // ticks of a match without bots: nobody knows its usual length
	longest = 1000  // ticks of a match of bots, at most
	whole   = 20000 // ticks of a match of [Search] in full length, at most
)

// filled returns o with its defaults.
func (o Options) filled() Options {
	o.Players = cmp.Or(o.Players, 4)
	o.Ticks = cmp.Or(o.Ticks, unknown)
	o.Every = cmp.Or(o.Every, max(o.Ticks/10, 1))
	o.Span = cmp.Or(o.Span, o.Ticks)
	o.Redo = cmp.Or(o.Redo, 8)
	o.Seed = cmp.Or(o.Seed, 1)
	o.Changes = cmp.Or(o.Changes, 2)
	o.Rate = cmp.Or(o.Rate, 8)
	return o
}

// line returns the options as Go code that plays the same match.
func (o Options) line() string {
	s := fmt.Sprintf("%sPlayers: %d, Ticks: %d, Every: %d, Span: %d, Redo: %d, Seed: %d, Rate: %d, Changes: %d",
		configLine(o.Config), o.Players, o.Ticks, o.Every, o.Span, o.Redo, o.Seed, o.Rate, o.Changes)
	if len(o.Skip) > 0 {
		s += fmt.Sprintf(", Skip: %#v", o.Skip)
	}
	if len(o.Weights) > 0 {
		s += fmt.Sprintf(", Weights: %#v", o.Weights)
	}
	if len(o.Choices) > 0 {
		s += fmt.Sprintf(", Choices: []byte(%q)", o.Choices)
	}
	if o.Orders != nil {
		s += fmt.Sprintf(", Orders: (the %d of the test)", len(o.Orders))
	}
	if o.Play != nil {
		s += ", Play: (that of the test)"
	}
	if o.Render != nil {
		s += ", Render: (that of the test)"
	}
	return "locksteptest.Options{" + s + "}"
}

// checkName tells a check from others of a test.
func checkName(g *lockstep.Game, o Options) string { return g.Name() + " " + o.filled().line() }

// longConfig is the number of characters from which on a configuration is not written as Go code.
const longConfig = 1000

// configLine returns a configuration as a field of options.
func configLine(config any) string {
	if config == nil {
		return ""
	}
	text, err := (&literals{}).of(config)
	if err != nil || len(text) > longConfig {
		text = "(that of the test)" // it has no name there, or nobody would read it
	}
	return "Config: " + text + ", "
}
