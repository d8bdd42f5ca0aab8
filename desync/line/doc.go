// Package line names the line of code at which two computations of one tick begin to differ.
//
// It builds a copy of a game's rules with probes (package desync/line/internal/weave), lets two sides compute the same tick (package
// desync/probe/program), and compares what the probes recorded. [Find] does all of it:
//
//	found, err := line.Find(ctx, file, line.Options{Source: ".", Other: "v1.3"})
//	found.WriteText(os.Stdout)
//
// The sides are two versions of the sources; or one version again and again, for what differs from run to run; or a
// simulation that came from the start of the match and one restored from a snapshot, for stale caches; or two platforms, for
// numbers.
package line
