// Package archive keeps the replays and desync bundles of matches that are over, and finds them again. It is the
// [server.Archive] of the samestep program:
//
//	store, err := archive.OpenFolder("archive")
//	a, err := archive.New(archive.Options{Store: store, Index: "archive/index.db", Keep: archive.Keep{Replays: 1000}})
//	s, err := server.New(server.Options{Archive: a, …})
//	a.Adopt("matches") // what the last run left behind
//
// A match is its replay with its bundles and the pages about them. They have the replay's whole name in theirs, and its ID.
// A file goes through these states; a crash makes it wait again, or go on being deleted:
//
//	waiting    it is in a server's folder; the store does not have it for certain
//	stored     the store has it
//	deleting   nobody is given it any more; the store or a folder may still have it, or get it back
//
// Evidence about a match that is not over stays in the server's folder.
//
// The files are the truth. A file stays where its server wrote it until the [Store] has it for certain, so a crash or a
// store that is away loses nothing. The index, a bbolt database, makes searches quick: [Archive.Rebuild] makes it
// again from the store. Only it has the tombstones of files that are being deleted. Beside each file the store has NAME.json with
// its description, which also has what the file does not say: whose seats it had. Several processes may share a store and an
// index. Archives that share only the store follow each other: see Options.Follow.
//
// Nothing waits for something else: files go into the store one after the other; one that the store refuses ([ErrRefused]) is set
// aside; and deletion and retention ([Keep]) have a goroutine of their own. A store may fail, hang, lie or lose files: what it
// says it has done is looked at, and what it has lost does not count.
package archive
