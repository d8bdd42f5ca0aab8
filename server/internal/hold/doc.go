// Package hold decides why the server stops the ticks of a match: its log, an admin, or players who are awaited. It is one of the
// machines that a match of package server composes. What players do among themselves (pauses, slow players, the lobby) is for
// lockstep/host.
//
// # Reasons
//
// [Hold.Wait] returns the first that applies:
//
//   - what the log of the match says, such as a full disk;
//   - an admin has paused the match ([Hold.Pause]). That outlives the server: the match writes each change into its log, and pauses again
//     when it is resumed;
//   - the match was resumed, or begins in the state of another one, and waits for its players ([Hold.Await]), until all are there or
//     the time is over. Then it never waits for them again. An admin who pauses or resumes the match ends this wait, too.
//
// # Calls
//
// The match asks Wait in each turn of its loop, and passes the reason on to its host. It needs the awaited players only while
// [Hold.Awaiting] says so. [Hold.Wake] says when it has to ask at the latest.
package hold
