// Package probe records what the rules of a game compute in one tick: each value that is assigned, tested or returned, in
// order, with the function and the element that it belongs to.
//
// Nobody calls it by hand. Package desync/line/internal/weave writes copies of a game's sources with calls of it, and samestep desync line builds
// those copies, runs the same tick on two sides, and compares the two recordings: the first probe that differs is the
// answer. docs/desync-line.md describes it. The package imports only the standard library, so that the woven copy of any
// package can import it.
//
// A recording is a stream of events. Each is, with numbers in base 128, low digits first:
//
//	flow     of the goroutine: 0 for that of Step, and then one for each goroutine, see [Spawn]
//	site     the probe, by its number in the list of package weave
//	depth    the calls of woven functions above it
//	flags    1: there is an old value
//	entity   length and text, such as "Unit 12"; empty for none
//	value    length and text
//	old      length and text, if there is one
package probe
