// Package commands has a player's own commands from the moment at which they are submitted until their tick has run.
//
// An [Own] belongs to one player, and outlives its connections. It knows neither messages nor states: its owner brings answers and
// frames, and takes what is to be sent.
//
// # States of a command
//
//	pending ──(accepted)──> answered ──(its tick has run: Forget)──> gone
//	   |                       |
//	   |                       └──(a server that crashed has forgotten the answer: Known)──> pending
//	   └──(refused)──> gone
//
// A pending command is in [Own.Pending], for the stream and for datagrams, and is sent on each new connection ([Own.Unsent]).
//
// # Sequences
//
// A server takes no sequence that is further ahead of the highest decided one than its window; so [Own.Submit] takes no more commands
// than that. Sequences that were refused without a decision are used again. Each connection begins with what the server knows
// ([Own.Known]): if a crash has taken decisions back, so that sequences are now too far ahead, or if a substitute has used them, the
// undecided commands get new ones.
//
// # Assumptions
//
// A prediction runs commands before their tick is known. A command is assumed for the tick in which the prediction runs it:
//
//	Assume       the newest command, in one of the next two ticks
//	AssumeRest   those that were submitted while nothing was predicted
//	Answer       moves it to the tick of the answer, unless what is shown would vanish
//	Confirm      a frame that has run: what is not in it moves to the tick after
//	Frame        what is assumed for a tick
//
// Answer and Confirm return an [Error] of the assumptions, which makes a prediction begin again. The machine does not predict itself.
//
//samestep:deterministic
package commands
