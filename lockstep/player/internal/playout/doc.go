// Package playout decides when a tick that has arrived runs: late enough that most later ones have arrived in time, and not later.
//
// A [Playout] has no clock and runs nothing. It knows how many ticks there are to run, their level, only when it is asked.
//
// # The plan
//
// From arrivals it estimates when ticks would arrive without jitter, its base. A tick is due [Playout.Delay] after that: as long as the
// second worst of recent bursts was late, and a quarter of a tick. Time passes at the speed of the match, and up to 5 % faster or slower, so
// that the level stays at the plan. Behind it by more than Options.Behind it is at Options.CatchUp percent, until it is less than a
// tick behind.
//
//	unknown ──Came──> filling ──(the plan's time has come)──> steady
//	   ^                 |                                       |
//	   └──Interrupted, or Came in a pause────────────────────────┘
//
// Nothing runs while the buffer fills. [Playout.Steady] says when it is clear when the next tick is due.
//
// # Ticks that do not come
//
// A tick that was due and is not here is owed ([Playout.Owed]), up to a number that the owner names, over which its prediction goes on. Time
// beyond that does not accumulate: [Playout.Ran] returns it as time for which the picture stood still.
//
// # Who calls what
//
//	a state was taken      Begin
//	ticks have come        Arriving, Came
//	time passes            FarBehind: then Skip, and all run; otherwise Pass says how many. Then Ran
//	a tick has run         Playing
//	wake up                at Next
//
//samestep:deterministic
package playout
