// Package locksteptest checks that a game is deterministic: that every machine
// which is given the same commands computes the same match. Game authors run it
// on their own game:
//
//	func TestDeterminism(t *testing.T) {
//		locksteptest.Check(t, lockstep.MustGame(mygame.Rules()), locksteptest.Options{Config: &mygame.Config{}})
//	}
//
// A random match is played: well-formed commands of every registered kind, with
// values that are random but often small, in random order of arrival. Then it is
// computed again in other ways, which must agree with it at every tick:
//
//	phase          what is done                                        what it finds
//	new            the state at tick 0 is made twice                   a clock, global randomness
//	two runs       two coordinators are given the same commands, in    the order of a map, globals, a game that
//	               another order of arrival; one has an observer       knows whether it is observed
//	follower       the log is followed as it is made                   a Validate that changes the state, or
//	                                                                   something of New that is not in it
//	restore        a state that is saved is restored later, over       a field that is derived and still decides
//	               another one                                         something, or is not rebuilt
//	late join      a state that is saved is restored on a new machine  the same, where the other one still had it
//	copy           a state is copied into another simulation           memory that two states share
//
// A failure names the phase, the tick, and the first field that differs, with
// both values.
package locksteptest
