// Package protocol has the messages between a host and a player: their values, their bytes, and the codes of errors and
// of closing. The records of package record travel between them unchanged; their kinds differ from those of messages.
// docs/spec/live.md describes each message.
//
//samestep:deterministic
package protocol
