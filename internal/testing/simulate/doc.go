// Package simulate runs whole matches: a server with its disk, clients over a bad
// network, liars and strangers, crashes and power cuts. A run uses one goroutine and
// virtual time, and one seed determines it. So a match of minutes takes a fraction of
// a second, and each failure is reproducible.
//
//	seed ──Expand──► Plan ──Run──► Outcome
//
// A [Plan] is an expanded seed: the players, their links, and each fault with its
// time. It can be stored as a file, edited, and run without the code that drew it.
// Faults, links, players and the disk draw random numbers from separate streams, so a
// plan without one of its faults is otherwise the same match.
//
// Some plans have a cluster: the log is replicated in a [store], which may be late, silent or lose answers, and several
// servers run of which one has the match. The servers use cluster/ownership; what cluster does around it
// is done here again, because that has sockets and clocks.
//
// A run has two phases. In the first, faults start and players submit commands. In the
// second, all faults are over and every client must recover. The oracle checks the
// invariants all the time. It shares only the rules of the game with the engine: it
// reads the log, computes the states again, and compares them with the messages,
// events and states of all clients.
//
//	I1  agreement    every state that a client has is that of the log, at its tick
//	I2  commands     an accepted command runs once, in order, in the tick of its receipt
//	I3  durability   a crash loses no more than the file's durability allows, and clients see nothing that it may lose
//	I4  one log      clients receive the log, byte for byte, without a gap
//	I5  bounds       the memory of host and clients stays below its formulas
//	I6  isolation    the match goes on, and clients without faults keep up, whatever others do
//	I7  attribution  no honest client is blamed or removed because of others
//	I8  prefix       a recovered file is a prefix of the written one
//	I9  convergence  after the faults all honest clients come back and agree
//	I10 no crash     nothing panics, and nothing runs without time passing
//	I11 reproducible the same plan gives the same run, to the byte
//	I12 delay        spectators see nothing before their delay allows
//	I13 fairness     an honest player on a good link is never disconnected, refused, or late by more than 250 ms because of others
//	I14 budgets      nobody costs others more than the limits of a subject, an address and a match, over all connections
//	I15 saves        a match can begin in any state of the file, with its seats and sequences, and is recovered and verified like any other
//	I16 lobby        no tick is sealed before the players let the match begin, or an admin begins it, and none is missing after that
//	I17 roster       every client sees the seats as the log tells them: names, who is there, and in a lobby who is ready
//	I18 waiting      a client shows why its match stands, that it runs again, and that nothing comes over its link, within a second or three
//	I19 replicated   the replicated log has one writer in each term and only grows; clients see what it has, and nothing else
//	I20 takeover     a server that lost its match tells its clients to leave within 6 s, and the match has a server again
//	I21 views        a viewer sees what the rules show it of a tick of the log, rounded, or a little later with a budget; it is sent nothing else, and in the end sees the last tick
//	I22 datagrams    a record that has arrived, by the stream or by a datagram, waits for no other way; records of datagrams are the log's
//	I23 secrecy      what players are sent who see views only is the same, to the byte and the microsecond, whatever others do out of their sight
//	desync           every state that a fault changes is detected, and no other
package simulate
