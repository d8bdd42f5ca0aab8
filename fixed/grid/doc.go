// Package grid has what a game on a map of square cells needs besides positions: sets of cells, fog of war, lines of sight,
// flow fields and A*. All results are the same on every machine, and nothing allocates in a tick after the first ones.
//
//	type World struct {
//		Shape grid.Shape
//		Walls grid.Bits                       // the state: plain data
//		Fog   []grid.Fog                      // by team
//		Units []Unit
//
//		terrain grid.Terrain `state:"derived"` // caches: the zero value works, after a restore too
//		paths   grid.Paths   `state:"derived"`
//	}
//
//	ground := w.terrain.Ground(w.Shape, w.Walls)       // in each tick
//	next, ok := w.paths.Next(ground, goal, w.Shape.At(u.Pos))
//
// # State and caches
//
//	Shape, Cell, Bits, Fog, Field    plain data, for the state
//	Terrain, Paths, Flows, Search    caches, for derived fields
//	Ground, Flow                     what the caches give, for one tick
//
// A stale cache is a desync: a machine that joined later computes afresh. These caches cannot be stale, because they are keyed
// by content. A [Terrain] compares the cells of the state with its own copy, cell by cell, and a [Flow] belongs to one
// version of one ground and to one goal. So Derive has nothing to do for them.
//
// # Moves
//
// A unit steps to one of eight cells. A straight step costs 2. A diagonal step costs 3, and both cells next to it must be open.
// Every search has a fixed order, so of several shortest ways all machines take the same.
//
//	flow field   many units, one goal          Flow; Paths keeps some; Fields spreads the work over ticks
//	A*           one unit, its own goal        Search
//	straight     nothing in the way            Ground.Sees
//
// # Promises and their proofs
//
//	costs of Flow and Search    shortest              TestCosts, TestSearch: relaxation of all cells
//	directions of Flow          the same in pieces    TestFlowInPieces; FuzzCaches compares with new caches
//	way of Search               the documented one    TestSearch: a list without stacks
//	Sees                        exact, symmetric      TestSees: rational arithmetic
//	Disc                        dx² + dy² ≤ r² + r    TestDisc
//
// Results are part of the format of a replay: changing one changes the engine's version.
//
//samestep:deterministic
package grid
