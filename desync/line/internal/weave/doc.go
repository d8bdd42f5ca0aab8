// Package weave reads the sources of a game, and writes copies of them with probes: calls of package desync/probe that tell what
// the rules compute. The go command builds the copies with its flag -overlay, so nothing in the tree of the game changes.
//
// [Read] finds the functions that return lockstep.Rules, and all functions that they reach. [Source.Write] writes their woven
// copies. [Align] says which probes of two versions of the sources are the same.
package weave
