// Package audience serves the spectators of a match that runs elsewhere. It has no game, socket, clock or goroutine.
//
// An [Audience] takes the records of the match's log, from a [Log] or an [Upstream], and serves them to spectators over the
// protocol of docs/spec/live.md, with a delay of its own:
//
//	Log ──────┐                        ┌── spectator
//	          ├─► Sync, Append ─► Audience ─► Send
//	Upstream ─┘   (keyframes, records) └── spectator
//
// A [Log] reads the records of the whole log, as the replicated log of a cluster has them. An [Upstream] is a client of a server
// or of another mirror, which sends a keyframe and the records after it. All spectators share one ring of records and one
// keyframe.
//
// Positions are those of the source. An Upstream that lost its connection continues from another keyframe: it may have missed records, and
// after a crash of the server the match has other ones. So the stream has a cut there: spectators see the records before it, and are then
// resynced from that keyframe. A Log misses nothing, and never cuts.
//
//samestep:deterministic
package audience
