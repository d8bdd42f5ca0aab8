// Package talk decides which chat lines, names and announcements are written to the log of a match. It is one of the machines that
// lockstep/host composes.
//
// Every peer receives all notes, and they stay in the replay file. A [Talk] therefore limits the total size of notes, and a [Purse]
// charges the person who causes one:
//
//	note                       charged to its author   allowed while all notes use less than
//	a chat line                Chat and Notes          15/16 of Policy.Bytes
//	a name, a reason to leave  Notes                   15/16 of Policy.Bytes
//	readiness in a lobby       Notes                   Policy.Bytes, so that chat cannot keep a match in its lobby
//	an announcement            nobody                  1/2 of Policy.Bytes, so that names and chat keep the rest
//
// # Chat
//
// [Talk.Say] takes a chat line and returns an [Answer]: write it to the log, refuse it as an offence, or drop it because the match
// is at its limit, which may be the fault of others. A Talk remembers the latest lines for joiners ([Talk.Lines]): at most
// Policy.History lines and 2 KiB of text, so that a flood of chat does not slow down joining.
//
// # Names and readiness
//
// The host calls [Talk.Name] when a player takes a seat, and writes the name if the result is true. A name that is in the log already
// is not written again, even if the seat was vacant in between.
//
//	written ──Name(another)──► allowed: written
//	                           refused: waiting ──Retry──► the host calls Name again for every seat
//
// [Talk.Ready] works the same way for a player's readiness. The host polls [Talk.Retry]; when it returns true, the host offers all
// names and the readiness of all players again. If a value changes several times in between, only the last one reaches the log.
//
// # Recovery
//
// A recovery replays the log into a Talk with [Talk.Rename], [Talk.Read] and [Talk.Count]. [Talk.Recover] copies the result to the
// Talk of the host that continues the match.
//
//samestep:deterministic
package talk
