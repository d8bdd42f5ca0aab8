// Package datagram has the datagrams that a host and a player of a live match exchange beside their stream of messages, and
// the measurements of the path that carries them. A datagram may be lost, repeated, or late to any depth: it changes nothing
// that has a number twice. What it carries, the stream carries too, so the stream alone is enough.
//
// A datagram is a sequence of MessagePack values in their smallest form, in at most [MaxSize] bytes. docs/spec/datagrams.md shows
// both forms, and a test compares its examples.
//
//samestep:deterministic
package datagram
