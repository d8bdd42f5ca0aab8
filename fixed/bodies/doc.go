// Package bodies has what the units of a game need to move among each other: neighbours within a range, bodies that do not
// overlap, groups that arrive, and projectiles that hit. All results are the same on every machine, and nothing allocates in
// a tick after the first ones.
//
//	type World struct {
//		Units []Unit // the state: plain data
//
//		index  bodies.Index  `state:"derived"` // caches: the zero value works, after a restore too
//		crowd  bodies.Crowd  `state:"derived"`
//		bodies []bodies.Body `state:"derived"` // of the units, made in each tick
//	}
//
//	for i := range w.Units {                                    // in each tick
//		u := &w.Units[i]
//		want := bodies.Arrive(u.At, u.Goal, u.Speed, fixed.One)
//		w.bodies[i] = bodies.Body{At: u.At, Radius: u.Radius, Want: want, Weight: 1}
//	}
//	w.crowd.Move(w.bodies, ground)                              // then copy each At to its unit
//
// # State and caches
//
//	Body, Formation, Shot, Hit    plain data
//	Index, Crowd                  caches, for derived fields
//	Near                          what an Index gives, for one tick
//
// An [Index] compares the positions of the state with its own copy, and a [Crowd] makes all anew from its arguments. So
// neither can be stale, and Derive has nothing to do for them. A [Near] that a game keeps into the next tick can be.
//
// # Groups
//
// A [Formation] gives each unit its place. Assign the places again now and then, such as every 20 ticks, while units walk:
// then those that come first fill the front, and nobody waits behind a full rank. A body that wants nothing makes room for
// those that press on it. Around walls, follow a [grid.Flow].
//
// Two packed groups that meet head-on turn to their right and flow past each other; where a wall leaves no room for that,
// they can stand. Give up a goal after some ticks without progress.
//
// # Promises and their proofs
//
//	Within        exact, ascending, not stale       TestWithin, FuzzIndex: a loop over all; TestMatch
//	Move          keeps bodies apart, also fast     TestMoveKeepsApart, TestMoveFast: all pairs; boxes, walls
//	Move          no body enters a closed cell      TestMoveKeepsApart, TestSlide: all cells that it touches
//	Move          groups that cross arrive          TestGroupsCross: 120 circles, 750 ticks
//	Separate      what it returns is the overlap    TestSeparate: all pairs
//	Arrive        ends at its goal, never passes it TestArrive
//	Assign        each place once                   TestAssign
//	Shot          2 units of 2^-32 cells            TestShot: math/big; FuzzShot
//	all of them   the same bits everywhere          TestSums: amd64, 386
//	all of them   total: no input panics            TestExtremes, FuzzCrowd
//
// # Cost
//
// 2,000 circles that move and cover 40 % of their ground take less than 2 ms a tick on one processor (BenchmarkTick2000). The
// cost grows with the pairs that are near each other: 1,000 bodies at one point are 500,000 pairs.
//
// Results are part of the format of a replay: changing one changes the engine's version.
//
//samestep:deterministic
package bodies
