// Package desync judges desyncs: two machines that computed one match differently. It has four ways to ask:
//
//   - [Compare] compares the records of two replays, without a simulation.
//   - [Bisect] finds the first tick at which two replays differ, or a replay and
//     checksums that somebody reported, and the fields.
//   - [Attribute] judges the checks of a replay that was verified.
//   - [Explain] explains the bundle of a desync: since which tick, in which fields,
//     by which command.
//
// An explanation takes the bundle that a server wrote:
//
//	bundle, err := replay.OpenBundle(file, size)
//	e, err := desync.Explain(bundle, desync.Options{Game: games.Find})
//	e.WriteText(os.Stdout)
//	e.WriteHTML(page)
//
// What is known comes from three places, and an [Explanation] says which:
//
//   - the bundle: checksums by participant, both sides' states of some ticks, and
//     the replay up to there. Its header describes states and commands, so
//     fields and commands are named without the game's code.
//   - the match, simulated again from the last keyframe before the two sides
//     agreed: it tells which side is right, and what the state of every tick in
//     between must be.
//   - trials: the same ticks again with one thing changed (a command left out,
//     doubled, moved or exchanged, a generator drawn from once more, a field with another
//     value). If one ends in exactly the state that the wrong side has, bit by
//     bit, that is what went wrong, or cannot be told from it.
//
// Nothing of this costs anything while a match is played: the second pass over
// the same frames finds who wrote a field by leaving out commands and looking
// what changes.
//
// It is a package of its own, above replay, because it reads the position of a
// generator of package fixed, which the engine does not know, searches states by
// their hashes, and draws pages. A server and a browser need none of that.
package desync
