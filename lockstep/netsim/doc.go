// Package netsim makes a good connection a bad one: it delays what is sent and
// received, varies the delay, lets bytes wait as a lost packet would, limits
// the rate, holds everything, and cuts. The same seed gives the same delays in
// the same order of writes.
//
// It is for testing a game on the network that its players have, in production
// code: wrap the connection that a client dials.
//
//	link, err := netsim.Parse("delay=80ms jitter=20ms loss=1% rate=64KiB seed=7")
//	conn = netsim.Wrap(conn, link)
//
// A connection is an ordered stream, so a lost packet is not lost: it arrives
// after a retransmission, and everything behind it waits.
package netsim
