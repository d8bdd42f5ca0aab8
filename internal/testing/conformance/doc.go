// Package conformance tests this implementation against the conformance suite
// in testdata/conformance, and builds the suite. It has only tests.
//
// A case is one file and the verdict that every reader must give on it. The
// file index.json lists all cases; docs/conformance.md describes them for other
// implementations. The builders share no code with the engine: they write
// MessagePack, blocks, states and state hashes themselves, so that a mistake in
// the engine's writers cannot hide one in its readers.
//
// The flag -rewrite writes the files and the index again. Two runs write the
// same bytes.
package conformance
