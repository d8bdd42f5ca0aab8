// Package host is the server's side of one live match. A [Host] owns the coordinator, the seats and the connections: it
// authorizes peers, syncs those that join late or fall behind, keeps limits, and collects evidence of desyncs.
//
//samestep:deterministic
package host
