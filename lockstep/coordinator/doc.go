// Package coordinator decides the order of a match's commands. It answers each
// submitted command, seals one frame a tick, writes the log, compares checksums,
// and reports desyncs. A [Recovery] makes the coordinator that goes on with a match
// that was interrupted.
//
// # Order and receipts
//
// Every command has a player, a sequence that its player counts from 1 upwards,
// and the tick that the coordinator gives it. Commands run in the order of
// (tick, player, sequence), whatever the order in which they arrived. The
// coordinator's rules for a submitted sequence s of a player:
//
//   - An answer is given once. Submitting s again gets the same receipt,
//     and an accepted command runs exactly once. The last 256 receipts are kept;
//     an s that was forgotten, or that is below a sealed one, is stale.
//   - s may be at most 256 above the highest one that was answered. A sequence further
//     ahead is refused without a receipt, and may be submitted again.
//   - Gaps are allowed, and may be filled as long as they are not stale. A
//     player's commands run in the order of their sequences, also when they
//     arrive in another one or while the input delay changes: a command's tick
//     is now + input delay, but not before that of a lower sequence and not
//     after that of a higher one that wait already.
//   - A player who leaves has commanded up to the tick in which Left stands, and
//     one who joins commands from the tick after Joined on.
//
//samestep:deterministic
package coordinator
