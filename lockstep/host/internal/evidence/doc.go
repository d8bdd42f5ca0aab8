// Package evidence collects what is known about a desync: the states of both sides, and what a client computes when it computes the ticks
// again. It is one machine of a host: values go in, and the host carries out what comes back. It has no connection and no clock.
//
// # Words
//
//   - A [Witness] is a connection that can be asked. The host has one for each connection, and says when it is gone.
//   - An inquiry asks one witness for states, and to compute ticks again, and collects the answers. A witness has at most one, so a
//     witness that does not answer does not delay the others.
//   - An [Evidence] is what the host hands out about one desync: first without answers ([Output.Early]), since the server may crash before the
//     witness answers, and then with them ([Output.Evidence]).
//   - A claim is a checksum that a spectator has reported. See [Witness.Claim].
//
// # An inquiry
//
//	Inquire ──► states ──► first run ──► second run ──► comparison ──► state of the first wrong tick ──► closed
//	Ask ──────► a state ───────────────────────────────────────────────────────────────────────────────► closed
//
// The states of the last agreed tick and of the reported one, and the first run, are asked for at once, and the answers may come in any order. The
// runs are asked for only if the referee has found itself right, if it has the state and the commands to compare them with, if the
// client can compute again, and if the host lets the witness pay for it. When the second run is complete, the collector
// computes the ticks itself, some at each [Collector.Advance], up to the first that differs from a run. It then asks for
// the witness's state of that tick, and its phases.
//
// Each of these closes an inquiry with what has arrived:
//
//   - all answers are there, or the witness has said that it cannot give more;
//   - its time is over, 10 s and three times the time of the ticks that are computed again;
//   - the witness is gone;
//   - all inquiries together hold more than twice the bytes that one may, and it is the largest;
//   - the match is over ([Collector.Finish]).
//
// A witness's part of an Evidence is untrusted: what it says accuses or clears nobody but itself, and no answer delays
// another witness or the match.
//
// # Claims of spectators
//
// A spectator who can reconnect without limit never causes a re-simulation, and is not asked for states. Its checksums wait
// ([Witness.Claim]) until the check of their tick has a verdict that the referee can no longer take back ([Witness.Compare]).
// Late spectators report on checks that the coordinator no longer keeps: [Checks] has them.
//
// # Who calls what
//
// The host calls [Collector.Inquire] for a report about a player who can be asked, and [Collector.Tell] for any other, such as the
// first of several ties ([Collector.Tie]). It calls [Collector.Panicked] for a panic of the rules, and [Collector.Ask] for a state with
// which somebody can join a match without a referee. It hands answers to [Collector.Receive], and calls [Collector.Advance] at
// [Collector.Next]. After each of these it calls [Collector.Take], and sends, removes and delivers what that says, in the order
// of the fields.
//
//samestep:deterministic
package evidence
