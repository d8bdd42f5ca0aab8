// Package bundles writes the bundles of a match: the evidence of a desync or a panic, with the log up to then. It is one of the machines
// that a match of package server composes.
//
// # A bundle
//
// The host reports a desync twice: early, with what is known before the player has answered, and again with the answer.
//
//	nothing ──Early──► draft ──Write──► complete, and told
//	   │                 └────End─────► told as it is: no answer came
//	   └──────Write───────────────────► complete, and told
//
// A draft is on disk at once, so that a crash leaves it. [Bundles.Write] replaces it. [Bundles.Known] reports whether a report was early,
// also one whose draft a limit has refused; then Write refuses it, too. A panic has no draft.
//
// Options.Told is called once for each complete bundle, from another goroutine, with its path.
//
// # Limits
//
// A match has at most Options.Most bundles about each player, and four times as many in all. The first about a player is written even so:
// a player who desyncs on purpose must not suppress the evidence about an honest one. All bundles of a match together have at most the
// bytes that its replay may have ([Case].MaxBytes). The contents that another machine needs (assets, the module of the rules) are left
// out where they do not fit: the evidence is worth more.
//
// # Files
//
// Each bundle is written by a goroutine of its own, once the file of the log has what was flushed, into a temporary file that is then
// renamed. So nobody reads an incomplete one, and the match never waits, until it is over: then [Bundles.Wait] waits for all. A
// panic in there, of the game's code or the operator's, is logged and counted.
//
// The match's goroutine calls all methods.
package bundles
