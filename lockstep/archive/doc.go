// Package archive keeps the replays and desync bundles of matches that are over, and finds them again. It is the
// [server.Archive] of the samestep program:
//
//	store, err := archive.OpenFolder("archive")
//	a, err := archive.New(archive.Options{Store: store, Index: "archive/index.db", Keep: archive.Keep{Replays: 1000}})
//	s, err := server.New(server.Options{Archive: a, …})
//	a.Adopt("matches") // what the last run left behind
//
// The files are the truth. A file stays where its server wrote it until the [Store] has it for certain, so a crash or a
// store that is away loses nothing. The index, a bbolt database, only makes searches quick: [Archive.Rebuild] makes it
// again from the store. Beside each file the store has NAME.json with its description, which also has what the file does
// not say: whose seats it had. Several processes may share a store and an index. Archives that share
// only the store follow each other: see Options.Follow.
package archive
