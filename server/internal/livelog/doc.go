// Package livelog keeps the log of a running match: the file of its replay, and with a cluster the replicated log. It knows what is
// safe, and when the match must wait for that. It is one of the machines that a match of package server composes.
//
// # States
//
//	none ──Replicate──► replicated ──Open──► open ──WriteBehind──► running ──Close──► closed
//	  └───────────────────Open────────────────┘
//
// The zero [Log] is that of a match without a file: it takes records and keeps none. Until [Log.WriteBehind] the caller waits for
// the file. From then on a goroutine of the writer has it, and no method waits for it, except [Log.Await], [Log.Close] and those that remove
// the file. The methods of [replay.Writer] need a file.
//
// # Records
//
// [Log.Append] gives a record to the replicated log first: a record that it refused is nowhere. After the records of the host, the match
// says with [Log.Wrote] which position they reach. Clients may see them at once, unless the log is waited for: it is replicated, or
// synced with each frame ([Log.Open]). Then [Log.Maintain] asks for a commit, and returns the position once that is safe. [Log.Remember]
// appends an event that no client gets.
//
// Records of a match at full speed are flushed by its ticks. [Log.FlushLate] flushes the others: at once while the match stands,
// otherwise after a second. [Log.Wake] says when it should be called again.
//
// # Waiting
//
// [Log.Maintain] decides what holds the match ([Log.Held]), the first that applies:
//
//   - the disk is full;
//   - the disk is slow: it has not taken what it was given for a second, or that is much;
//   - the same, because a commit has taken a second; for a replicated log the reason names that.
//
// The match is held for as long as the reason lasts.
//
// # The end
//
// [Log.Close] closes the file, which waits for the disk. With a replicated log the match ends in one of three ways:
//
//   - [Log.Drop]: the match is over, and its replay is complete here;
//   - [Log.Release]: another server may continue the match, so the file is removed;
//   - [Log.Leave]: the same with a disk that does not answer, so the file stays.
//
// A log is released at most once. [Log.Lost] notices that somebody has removed the file of a running match.
//
// # Calls
//
// The match's goroutine calls all methods, except Await, Backlog, Stored, Release and Leave, which any goroutine may call.
package livelog
