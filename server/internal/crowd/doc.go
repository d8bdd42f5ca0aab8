// Package crowd decides which connection is closed when there are too many. It is one of the machines that server composes.
//
// A [Limit] counts connections of one kind: unauthenticated WebSockets, sockets that are not WebSockets, sockets on trial, paths of
// datagrams, spectators. It always admits a new connection and closes another one:
//
//	Add(c, most of an address)
//	├── the address has more than that     ► close the oldest connection of the address
//	├── there are more than allowed in all ► close the oldest connection of the address that has most
//	└── otherwise                          ► close none
//
// So silent connections push out each other, and a player is not hurt, because authentication takes milliseconds. [Limit.Crowded] asks
// in advance whether an Add would close a connection: the server then may count the newcomer elsewhere. A connection leaves with
// [Limit.Remove], when it closes or when another Limit counts it. [Limit.Resize] closes connections as if one more had come.
//
// [Handshakes] counts the QUIC handshakes that are not finished. Nothing can end one from outside, so [Handshakes.Begin] refuses new
// ones at a limit, of an address and in all. The caller ends each one that it began, when it is finished and at the latest after the
// time that QUIC gives it.
//
// The server calls these from the goroutines of its listeners and handlers; each type has a mutex. Drop is called while it is held, so it
// must not wait.
package crowd
