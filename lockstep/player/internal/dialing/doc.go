// Package dialing decides when a player dials, hangs up and gives up.
//
// A [Link] has one connection at most, one after the other. It owns no socket and no clock: its owner tells it what became of a
// connection, and does what it says.
//
// # States
//
//	Waiting ──(due)──> Dialing ──Connected──> Greeting ──Welcomed──> Up
//	   ^                  |                       |                   |
//	   |                Lost                      └──HangUp, Fail, Leave──> Closing ──Lost──┐
//	   └──(attempts left)─┴─────────────────────────────Lost──────────────────────────────┤
//	                                                                                       v
//	                                                  (none left, or it has failed or left) Over
//
// HangUp asks the owner to close the connection, and another one follows. Fail is for what no connection can mend. A player who leaves,
// or whose match is over, is not connected again.
//
// # Waits
//
// The first attempt after a loss is due after Policy.First, each one after twice the wait before, up to Policy.Longest; all vary by a
// fifth, so that clients do not come all at once. A server may ask for a longer wait ([Link.Delay]). A connection that was live for five times
// Policy.First begins anew; otherwise a client would for ever dial a server that ends each connection at once.
//
//samestep:deterministic
package dialing
