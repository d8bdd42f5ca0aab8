// Package stream takes the records of a match in their order as they arrive, and the states with which a player joins.
//
// A [Stream] outlives connections, so that a player can go on where it was. It has no clock and runs nothing: it knows where the
// stream stands, and not where the simulation does.
//
// # States
//
//	none ──Begin, not resumed──> awaiting ──Chunk, until a state is whole; Adopt──> streaming
//	streaming ──Begin, resumed──> streaming
//	streaming ──Drop, too much waits──> dropping ──(another state)──> streaming
//	streaming ──Break, or what Take cannot decode──> none
//
// [Stream.From] is the position at which the stream can go on: 0 while a state is awaited. A dropping stream still takes records, which
// nobody keeps, so that it knows the position.
//
// # States that arrive
//
// A state comes in chunks, which must follow each other. It takes memory only for bytes that have come. The owner asks for
// another one after a bad one, and gives up if that was too often ([Stream.Ask]). A server that is too slow is left ([Stream.Stalled]): nothing
// for [Patience], or less than minRate bytes in a second after that; a server may begin a state again, but gains no time by it.
//
// # What the commands of System say
//
// [Stream.Take] looks for what says when the next ticks come: pauses, the speed, and the input delay.
//
//samestep:deterministic
package stream
