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
// What cannot be ended from outside, such as a QUIC handshake, has wsmatch.Places, which refuses new ones.
//
// The server calls a Limit from the goroutines of its listeners and handlers. Drop is called while its mutex is held, so it must not wait.
package crowd
