// Package talk decides which lines of chat, names and announcements are written into the log of a match. It is one of the machines of
// lockstep/host.
//
// Every peer is sent all notes, and they stay in the file. So a [Talk] counts their bytes, and a [Purse] pays for those of people:
//
//	kind                       paid from                          most bytes of all notes before it
//	a line of chat             chat, and then a note              15/16 of Policy.Bytes
//	a name, a reason to leave  a note                             15/16
//	who is ready in a lobby    a note                             all: chat must not keep a match in its lobby
//	an announcement            nothing: the host makes it         a half: the rest is for names and chat
//
// # Who calls what
//
// The host calls [Talk.Say] for a line of chat, and does what the [Answer] says. It calls [Talk.Name] when a player takes a seat, and
// writes the name into the log if the answer is true. A name that the log has already is not written again. A name, or a word of
// readiness, that is refused is not lost: after [Talk.Retry] the host offers all names and the readiness of all players
// again. So of several changes, the log has only the last. [Talk.Note] is for other notes of people,
// [Talk.Announce] for those of the host.
//
// What a joiner is told comes from [Talk.Named], also of a vacant seat, and [Talk.Lines]: the latest lines of chat, at most
// Policy.History and 2 KiB, because a flood of chat must not make joining slow.
//
// A recovery reads the log with [Talk.Read] and [Talk.Count], and gives the result to the host's Talk with [Talk.Recover].
//
//samestep:deterministic
package talk
