// Package quiet notices that nothing comes from a server any more, and decides when a player hangs up because of it.
//
// A [Line] belongs to one connection, by its stream and by datagrams. It has no clock and does not know why something should come: its
// owner says for how long it may be quiet ([Line.Due], [Line.Notice]).
//
// # States
//
//	heard ──Notice, quiet for longer than it may be──> stalled ──Stream or Datagram──> heard
//	  |                                                   |
//	  └───────────────(silent for too long: SilentAt)─────┴──> the owner hangs up
//
// Stalled is what a user is told at once: nothing comes. Silent ends the connection. While datagrams come, the stream may be silent for
// three times as long, because it may only wait for lost packets.
//
// An owner that was itself not called for longer than [gap] cannot blame the server: what has come meanwhile is not read yet, so
// the quiet begins anew.
//
// # Who calls what
//
//	a connection is open     Begin
//	something comes          Stream or Datagram; true says that the line was stalled until now
//	time passes              Notice; true says that it is stalled from now on
//	hang up                  at SilentAt
//	wake up                  at Due
//
//samestep:deterministic
package quiet
