// Package pace decides when a match seals its next tick: at which speed it runs, whether it waits, for whom, and who pays for
// that. It also decides the input delay. It is one of the machines of lockstep/host.
//
// A [Pace] knows players by their seats. It sees of each what a [Seat] says at that moment, and the account that pays for it
// ([Pace.Bill]). It knows no connection and writes no record: the host carries out what it returns.
//
// # The clock
//
// After [Pace.Start] the n-th tick is due at start + n·100·period/percent ([Pace.Due]), in exact arithmetic, so that no error adds
// up. [Pace.Tick] counts each, also one that a pause leaves out. After a stall the host calls [Pace.Skip], which makes the next
// tick due a period from now: the match stays late instead of hurrying. [Pace.Forgive] moves the other times on.
//
// # Waiting
//
//	runs ──Await──► waits ──Await──► runs
//
// Before a tick that is due the host asks [Pace.Await]. The match waits while
//
//   - the server holds it ([Pace.Hold]), such as for a full disk;
//   - it gathers its players in a lobby, which the host knows. [Pace.Begin] ends that at once;
//   - a [WaitPolicy] waits for a player who is away, or behind by Lead ticks: for at most Bound in a minute, and as long as the
//     player's account pays.
//
// Await does not look at pauses, because the coordinator of a paused match seals no tick. The first tick after a wait is due a quarter
// of a period later.
//
// # Measuring
//
// At the time of [Pace.Next] the host calls
//
//   - [Pace.Slow], every second with a [SlowPolicy]. Two measurements of more than Lead ticks behind make a player demand 10 %
//     less speed; five of at most half of that take 10 % back. The returned speed is in force once [Pace.Slowed] says that it is
//     in the log; otherwise the next measurement tries again. It is a part of the speed that an admin sets with [Pace.SetSpeed];
//   - [Pace.Delay], at each measurement of the round trips with a [DelayPolicy]. The delay follows the need of the slowest player.
//
// # Who pays
//
// A second of waiting costs a second, a second at 90 % of the speed a tenth of one, and so does a second with 100 ms more input delay
// than more than half of the accounts need. All players lose this time together, so the match loses the largest of what the
// accounts are granted ([Payers.Grant]), within what all players together are granted ([Payers.GrantAll]). The match neither waits for
// nor follows the players of an account that cannot pay. A player who is alone pays nothing.
//
// [Pace.Costs] returns the players of whom the host tells everybody that they cost time: once it is a second, the same text at most
// once in a minute, another text after ten seconds. That an account cannot pay any more is told at once.
//
// # Telling
//
// After each change the host calls [Pace.Tell] with what else stops the match. The reasons, the first that holds: the match is over
// (none), the server holds it, it is paused, it gathers, it waits for slow players, it is slower for players. If the [Wait] that the
// peers know has changed, [Pace.Version] rises, and the host sends [Pace.Told] to each peer with another version. Waits for slow players
// are told after half a second, and change as rarely, so that short ones do not flicker.
//
//samestep:deterministic
package pace
