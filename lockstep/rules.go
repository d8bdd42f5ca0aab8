package lockstep

// Rules are written by a game author. S is the state and C the match configuration, both plain data as package state
// describes it. All results depend on the arguments alone (see the determinism contract in the package comment).
//
// Every function gets the match's configuration, which is in the header of the match. It is read-only, and neither part
// of a checksum nor of a keyframe: maps and balance belong there, not in the state.
type Rules[S, C any] struct {
	// Name identifies the game, and Build the version of its rules, which changes whenever the same commands may lead
	// to another state. Machines with different Name or Build never play together.
	Name  string
	Build string

	// Commands are the kinds of commands that players can issue.
	Commands []CommandType

	// Assets lists the files that a match with this configuration needs, such as its map: at most [record.MaxAssets], with different
	// names. Usually the configuration has them in a field. Nil if no match needs files.
	Assets func(config *C) []Asset

	// Load reads the contents of the assets, in the order of the list, into fields of config with the tag `state:"derived"`,
	// where the other functions find them. The engine has compared the contents with sizes and sums. They are read-only and stay
	// unchanged. An error rejects the configuration. A list that is empty needs no Load, so the fields stay zero. Want with Assets.
	Load func(config *C, contents [][]byte) error

	// New initializes *world, which is zero, to the state at tick 0. An error rejects the configuration. Of settings only the seed, the
	// players and the period of a tick reach the simulation: the others are 0.
	New func(world *S, settings *Settings, config *C) error

	// Step advances world by exactly one tick. It must handle any sequence of well-formed commands, because the world
	// may have changed since a command was validated. It also gets commands of [System].
	Step func(world *S, config *C, turn *Turn)

	// Derive rebuilds the fields with the tag `state:"derived"` after world was restored or copied. Nil if there are none.
	Derive func(world *S, config *C)

	// Validate returns an error, which its player sees, to refuse a command. It reads the state before the tick being
	// sealed, and changes nothing. Nil accepts every well-formed command, and so must rules with a View: an answer that depends
	// on the whole state tells what the view hides, so their View refuses commands.
	Validate func(world *S, config *C, command *Command) error

	// Result is the type of the results with which [Turn.End] ends a match, such as Result[Victory](). Without it the
	// rules cannot end a match.
	Result ResultType

	// View makes what a player, a team, a spectator or a role may see of a state, and refuses commands by it, such as
	// View(fogged, refuse). Package feed sends it. Without it the match can only be followed as a whole.
	View ViewType

	// ViewOf names whose view a player gets, such as that of its team, so that all of the team share one. Nil gives each
	// player its own.
	ViewOf func(world *S, player Player) Viewer

	// Describe describes a command in words, for people. If it is nil or returns "", tools print the fields.
	Describe func(command *Command) string

	// SelfTest runs some computations of the kind that Step uses, such as fixed-point arithmetic, and returns a hash of
	// the results. It takes less than a millisecond, and runs once for each [NewGame]. A server rejects a client with
	// another result before the match (see [SelfTest]). Nil if the engine's own test covers everything.
	SelfTest func() uint64
}
