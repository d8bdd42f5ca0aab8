// Package host is the server's side of one live match. A [Host] owns the coordinator, the seats and the connections: it
// authorizes peers, syncs those that join late or fall behind, keeps limits, and collects evidence of desyncs.
//
// # Parts
//
// A Host decides little itself. It asks machines that take values and give values, and carries out what they say. Those in
// host/internal do not know the Host:
//
//	bans      who is kept out
//	budget    what a subject, an address and a connection may spend
//	ending    why the match is over, and how long connections stay then
//	evidence  whom to ask about a desync, and what is known of it
//	idle      who gives no command
//	link      round trips and silence of a connection
//	lobby     who is waited for before the first tick
//	pace      when the next tick is due, whom the match waits for, who pays
//	syncing   where each reader is in the log, with which keyframe it begins
//	talk      which names and lines of chat are written
//	views     what viewers are sent
//	vote      votes to kick
//
// Three more are tables of this package:
//
//	seats     who holds which seat, since when, and who may take it (seats.go)
//	peers     the connections, and which have something to send (peers.go)
//	journal   the log: what is written of the seats, what each reader may see of it (journal.go)
//
// # The way of a message
//
// [Host.Receive] reads messages and charges them. The first one must be auth: it ends in a seat, a place as a spectator, or a refusal. After
// that a command goes to the coordinator, a checksum to the comparison, and all else to its machine. An answer waits in the peer's
// queue. Nothing is sent before the owner calls [Host.Send].
//
// # The way of a tick
//
// [Host.Advance] seals the ticks that are due, writes the changes of seats before them, and runs all timers. The records are in
// the next [Ready]. When the owner says that they are durable ([Host.Persisted]), the peers that may see them are marked, and views are made.
//
// # Who else calls
//
// [Host.Admin] acts for the operator, [Host.Bans] keeps people out, [Host.Info] describes who takes part, and [Host.Status] says how
// the match stands. A [Recovery] makes the Host of a match that was interrupted, or of one that begins in the state of another.
//
//samestep:deterministic
package host
