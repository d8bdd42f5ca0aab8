// Package desync explains desyncs: two machines computed different states of one match. It has three entry points:
//
//   - [Verify] simulates a file and says whether it is true, and if not, who was wrong.
//   - [Attribute] finds the party that was wrong, from the checks of a verified replay.
//   - [Explain] explains the bundle of a desync: the first divergent tick, the fields, and the command.
//
// Package bisect finds where two copies of a match begin to differ, recordings does so for matches of other engines, stepper accounts for
// one tick, triage groups many desyncs, and line names the line of code.
//
// An explanation takes the bundle that a server wrote:
//
//	bundle, err := replay.OpenBundle(file, size)
//	e, err := desync.Explain(bundle, desync.Options{Game: games.Find})
//	e.WriteText(os.Stdout)
//	e.WriteHTML(page)
//
// An [Explanation] draws on three sources, and says which:
//
//   - The bundle has the checksums by participant, both sides' states of some ticks, and the replay up to the desync.
//     The replay's header describes states and commands, so fields and commands have names without the game's code.
//   - The re-simulation begins at the last keyframe before the last check at which both sides agreed. It shows which
//     side is right, and gives the right state of every tick in between.
//   - Trials simulate the same ticks with one fault: a command left out, doubled, moved, exchanged or with another
//     payload, more or fewer draws from a generator, a list in another order, a field with another value, another
//     configuration. If a trial ends in exactly the wrong side's state, bit by bit, the states are consistent with its
//     fault. A trial proves nothing: it never excludes a tick or another cause. A control, with nothing changed, must end in
//     the right state.
//
// Nothing is said of what was simulated once: [Repeat] simulates the ticks that decide again, and if a result differs, the
// verdict is [NoFixedResult], with the [Parting].
//
// An explanation costs a running match nothing. It finds the command that wrote a field in a second pass over the same
// frames: it leaves out commands, and compares the results.
//
// The package is separate from package replay because it knows the generators of package fixed, which the engine does
// not, and draws pages. A server and a browser need none of that.
package desync
