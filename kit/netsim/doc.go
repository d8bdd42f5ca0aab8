// Package netsim simulates a bad network on a good connection: latency, jitter, packet loss, a limited rate, stalls and
// cuts. With the same seed, the same sequence of writes gets the same delays.
//
// It tests a game on the networks of its players, with the production code: wrap the connection that a client dials.
//
//	link, err := netsim.Parse("delay=80ms jitter=20ms loss=1% rate=64KiB seed=7")
//	conn = netsim.Wrap(conn, link)
//
// A connection is an ordered stream, so a lost packet arrives after a retransmission, and everything behind it waits. [WrapPacket] is
// for datagrams: a lost packet never arrives, and nothing waits for it.
package netsim
