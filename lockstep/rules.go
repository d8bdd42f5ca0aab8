package lockstep

// Rules are what a game author writes: S is the state, plain data as package state describes it, and C is the match
// configuration, plain data as well. Everything that Rules compute must depend on nothing but their arguments (see the
// determinism contract in the package comment).
type Rules[S, C any] struct {
	// Name identifies the game, and Build the version of its rules: it changes whenever the same commands may give
	// another state. Two machines of different Name or Build never play together.
	Name  string
	Build string

	// Commands are the kinds of commands that players can give.
	Commands []CommandType

	// New makes the state at tick 0 in *world, which is zero. An error refuses the configuration.
	New func(world *S, settings *Settings, config *C) error

	// Step advances world by exactly one tick. It must accept any sequence of well-formed commands: the world may have
	// changed since a command was validated. Commands of [System] arrive here, too.
	Step func(world *S, turn *Turn)

	// Derive rebuilds the fields tagged as derived after world was restored or copied. Nil if there are none.
	Derive func(world *S)

	// Validate refuses a command with a reason for its player, or returns nil. It reads the state before the tick being
	// sealed, and changes nothing. Nil accepts every well-formed command.
	Validate func(world *S, command *Command) error

	// Describe puts a command into words, for people. Where it is nil, or returns nothing, the fields are printed.
	Describe func(command *Command) string

	// SelfTest computes a little with what Step computes with, such as fixed-point numbers, and returns a sum of the
	// results. It takes less than a millisecond, once for each [NewGame]. A client whose sum is not the server's is
	// refused before the match (see [SelfTest]). Nil if a game needs nothing but what the engine tests itself.
	SelfTest func() uint64
}
