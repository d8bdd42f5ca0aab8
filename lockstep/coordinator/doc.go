// Package coordinator decides the order of a match's commands. It answers each submitted command, seals one frame per
// tick, writes the log, compares checksums, and reports desyncs. A [Recovery] makes the coordinator that continues an
// interrupted match.
//
// # Order and receipts
//
// Every command has a player, a sequence that its player counts from 1 upwards, and the tick that the coordinator gives
// it. Commands run in the order of (tick, player, sequence), in whatever order they arrived. The coordinator's rules
// for a submitted sequence s of a player:
//
//   - Each sequence is answered once. Submitting s again gets the same receipt, and an accepted command runs exactly
//     once. The last 256 receipts are kept. A sequence whose receipt is forgotten, or that is below a sealed one, is
//     stale.
//   - s may be at most 256 above the highest answered one. A sequence further ahead is refused without a receipt, and
//     may be submitted again.
//   - Gaps are allowed, and may be filled as long as they are not stale. A player's commands run in the order of their
//     sequences, even if they arrive in another order or the input delay changes: a command's tick is now + input
//     delay, but not before that of a waiting lower sequence and not after that of a waiting higher one.
//   - A player that leaves has commanded up to the tick of its Left, and one that joins commands from the tick after
//     its Joined on.
//
//samestep:deterministic
package coordinator
