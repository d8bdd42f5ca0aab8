// Package locksteptest checks that a game is deterministic: that every machine which is given the same commands
// computes the same match. Game authors run it on their own game:
//
//	func TestDeterminism(t *testing.T) {
//		locksteptest.Check(t, lockstep.MustGame(mygame.Rules()), locksteptest.Options{Config: &mygame.Config{}})
//	}
//
// A random match is played: well-formed commands of every registered kind, with values that are random but often small,
// in random order of arrival, while players leave and come back, and the match pauses and changes its speed. Then it is
// computed again in other ways, which must agree with it at every tick:
//
//	phase       what is done                                       what it finds
//	new         the state at tick 0 is made twice                  a clock, global randomness
//	play        Options.Play is asked                              a bot that writes, or commands that cannot be sent
//	validate    commands are judged                                a Validate that changes the state
//	two runs    two coordinators are given the same commands, in   the order of a map, globals, a game that
//	            another order of arrival; one has an observer      knows whether it is observed
//	follower    the log is followed as it is made                  something of New that is not in the state
//
//	restore     a state that is saved is restored later, over      a field that is derived and still decides
//	            another one                                        something, or is not rebuilt; a command that is kept
//	late join   a state that is saved is restored on a new         the same, where the other one still had it
//	            machine
//	copy        a state is copied into another simulation          memory that two states share
//	redo        some ticks are predicted without the commands      what is left of a future that did not come
//	            of others, and then computed again
//	refused     the match without the commands that were refused   a Validate that leaves something behind
//	derived     a state is restored over one of another match      a Derive that trusts what it finds
//	fields      one field of the state is changed, and so must     a Derive that changes what is in the state
//	            be the checksum
//	round trip  states and commands are encoded and decoded,       a Describe that panics or wavers, or that
//	            described and dumped                               changes the command
//	machine     another GOMAXPROCS, another garbage collection     goroutines that race, finalizers, weak pointers
//	reading     the match is observed, drawn, described and        a renderer that writes
//	            dumped as it runs
//
// The first ones belong together and are always done. Of the others, Options.Skip leaves some out. From a state that
// was restored or copied, Validate must say the same of the commands that came then.
//
// A failure names the phase, the tick, and the first field that differs, with both values, and tells how to run the
// same again. [Failure.Shrink] makes its match small, and [Failure.WriteTest] and [Failure.WriteReplay] write down what
// is left.
//
// [Search] plays as many random matches as there is time for, and [Fuzz] lets a fuzzer write them, which sees what code
// they reach. [Cluster] plays matches with a server, its disk, and players over a bad network, in virtual time.
// docs/testing.md leads through all of it.
package locksteptest
