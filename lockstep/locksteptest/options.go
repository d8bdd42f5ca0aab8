package locksteptest

import (
	"cmp"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Options say what match is played and how thoroughly it is checked. Of the zero value only Config may have to be set.
type Options struct {
	// Config is a pointer to the game's configuration, which New must accept.
	Config any

	// Players is the number of seats; 0 means 4.
	Players uint8

	// Ticks is the length of the match; 0 means 200.
	Ticks lockstep.Tick

	// Every is how often a state is saved, restored, copied and joined: at each so many ticks; 0 means a tenth of
	// Ticks. 1 is the most thorough, and costs a simulation of Span ticks for each tick and phase.
	Every lockstep.Tick

	// Span is for how many ticks a restored state is simulated on; 0 means to the end of the match.
	Span lockstep.Tick

	// Redo is for how many ticks a state is predicted, which are then computed again; 0 means 8.
	Redo lockstep.Tick

	// Skip names phases to leave out: those of the package comment that follow after the match was played.
	Skip []string

	// Seed is where all randomness comes from, and the seed of the match; 0 means 1.
	Seed uint64

	// Choices are used up before Seed: a fuzzer writes the match with them.
	Choices []byte

	// Rate is the mean number of random commands of a player in 16 ticks; 0 means 8.
	Rate int

	// Changes is the mean number of times in 64 ticks that a player leaves, is lost, is replaced by a bot or comes
	// back, or that the match pauses or changes its speed; 0 means 2, and a negative number none.
	Changes int

	// Play gives the commands of p for the next tick, beside the random ones: pointers to registered types, at most
	// 128. It reads s, and must depend on nothing else. Nil gives none.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any

	// Orders, unless nil, are all that the players command: there are no random commands, and Play is not asked. They
	// stand in the order of their ticks.
	Orders []Order

	// Render is called with views of the match, as a client's renderer is. It reads them. Nil draws nothing.
	Render func(player.View)
}

// An Order is a command that a player gives, written down. One of System says what happens to the match: Value is then
// a pointer to one of lockstep.Joined (also to come back), Left, Lost, TakenOver, Paused, Resumed and SpeedSet, and it
// comes before the commands of the players for its tick.
type Order struct {
	Tick   lockstep.Tick // is sealed next when the command is submitted
	Player lockstep.Player
	Kind   lockstep.Kind // 0: the one that the type of Value is registered for
	Value  any           // a pointer to a registered type
}

// filled returns o with its defaults.
func (o Options) filled() Options {
	o.Players = cmp.Or(o.Players, 4)
	o.Ticks = cmp.Or(o.Ticks, 200)
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

// configLine returns a configuration as a field of options.
func configLine(config any) string {
	if config == nil {
		return ""
	}
	text, err := (&literals{}).of(config)
	if err != nil {
		text = "(that of the test)" // it has no name there
	}
	return "Config: " + text + ", "
}
