// Package answers has what a player owes its referee after a desync: states that it is asked for, and ticks that it is asked to
// compute again, with their checksums or the phases of the last one.
//
// An [Answers] belongs to one connection. It has no follower and no clock: a request comes with a copy of all that it needs,
// because a state of the server's may replace the player's own meanwhile.
//
// # States
//
// [Answers.State] queues the state of a tick, or that there is none. At most [MaxStates] wait; a server that asks for more gets no
// answer to them. [Answers.NextState] takes them apart into chunks.
//
// # Ticks again
//
//	idle ──Ask──> computing ──(the last tick)──> told ──NextSum, until there is none──> idle
//	                  |
//	                  └──(a state does not load, or a tick fails)──> told, that it cannot
//
// While a request is computed or its checksums wait, [Answers.Busy], another has no effect: so a server cannot make a player work
// faster. The material of a request stays for further ones of the same ticks ([Answers.Keeps]), so that all runs begin from the same
// memory. [Answers.Advance] computes at most four ticks in a call, and two in the time of one tick of the match, so that the game
// stays playable. With [maxSums] checksums waiting it stands still until they are sent.
//
// After each run of all ticks the machine compares the state hashes of all runs with the one of the first time and the match's, and
// returns an [Outcome] if that is news: memory that was altered, rules that differ, or no fixed result.
//
// # Who calls what
//
//	message state_request     State
//	message resimulate        Busy, Keeps, then Ask with new Material unless it keeps it
//	time passes               Advance, with the match's checksum of Last if the log has said it; Due says when next
//	something may be sent     NextSum while there is room, NextState once
//	the connection is gone    Reset
//
//samestep:deterministic
package answers
