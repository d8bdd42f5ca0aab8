// Package conformance builds the conformance suite in testdata/conformance and
// runs this implementation against it. It is a test rig: no program imports it.
//
// A case is one file and the verdict that every reader must give. All cases
// stand in index.json; docs/conformance.md describes them for other
// implementations. The builders share no code with the engine: they write
// MessagePack, blocks, states and roots by themselves, so that a mistake in the
// engine's writers cannot hide one in its readers.
//
// The test with the flag -rewrite writes the files and the index anew. Two runs
// write the same bytes.
package conformance
