// Package protocol is the messages between a host and a player: their values, their
// bytes, and the codes with which connections are refused and closed. The records of
// package record travel between them as they are; one range of kinds tells both apart.
// docs/protocol.md describes each message.
//
//samestep:deterministic
package protocol
