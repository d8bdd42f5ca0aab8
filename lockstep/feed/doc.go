// Package feed sends a viewer what it may see of a state, as differences. The viewer does not simulate.
//
// A view is a value of plain data, which the rules of a game make (see lockstep.Rules.View). A [Plan] says by the tags of its type how it is
// sent. A [Sender] takes view after view, and makes the difference from any of its last ones. A [Receiver] makes the views
// again. Both are pure: they have no clock and no connection, and lost or repeated differences do no harm.
//
// docs/feed.md describes the tags, docs/spec/views.md the bytes.
//
//samestep:deterministic
package feed
