// Package simulate plays whole matches with everything around them: a server
// with its disk, clients over a bad network, liars and strangers, crashes and
// power cuts. All of it runs in one goroutine under virtual time, and follows
// from one seed, so that a match of minutes takes a fraction of a second and
// whatever goes wrong can be made to go wrong again.
//
//	seed ──Expand──► Plan ──Run──► Outcome
//
// A [Plan] is a seed spelled out: who plays over which links, and each fault with
// its time. It can be kept as a file, changed by hand, and run without the code
// that drew it. Faults, links, players, and the disk each take their random
// numbers from a stream of their own, so a plan without one of its faults is the
// same match otherwise.
//
// A run has two phases. In the first one faults begin and players command; in
// the second all faults are over, and everybody must come back. What must hold
// is checked all the time by code that shares nothing with the engine but the
// rules of the game: the oracle reads the log, computes the states again, and
// compares what everybody has been sent, told, and made of it.
//
//	I1  agreement    every state that a client has is that of the log, at its tick
//	I2  commands     one that was accepted runs once, in order, in the tick of its receipt
//	I3  durability   a crash takes back no more than the file's durability allows, and no more of it than that is told
//	I4  one log      what clients are sent is the log, byte for byte, without a gap
//	I5  bounds       the memory of host and clients stays below its formulas
//	I6  isolation    the match goes on, and who has no fault keeps up, whatever others do
//	I7  attribution  nobody honest is called wrong or removed because of what others do
//	I8  prefix       what is recovered of a file is a true beginning of what was written
//	I9  convergence  when the faults are over, all who are honest come back and agree
//	I10 no crash     nothing panics, and nothing runs without time passing
//	I11 reproducible the same plan gives the same run, to the byte
//	I12 curtain   spectators see nothing sooner than the delay of theirs allows
//	I13 bystander an honest player on a good link is never disconnected, refused, or late by more than 250 ms because of others
//	I14 budgets   nobody costs others more than the limits of a subject, an address and a match, over all connections
//	desync           every state that a fault changes is found, and nothing else is
package simulate
