// Package replay keeps the log of a match in a file. It writes the file while the match runs, reads it, and verifies it
// by simulating the match again.
//
//	w := replay.NewWriter(file, replay.WriterOptions{})
//	c, err := coordinator.New(game, header, w, coordinator.Options{})
//	// … play …
//	err = w.Close()
//
//	r, err := replay.NewReader(file, size)
//	found, err := replay.Verify(r, game, replay.VerifyOptions{})
//
// Package desync compares replays of one match, and decides who was wrong where a verification finds a difference.
//
// docs/spec/replay.md has the format and its limits. A reader refuses a file that exceeds one, with [ErrLimit]; a [Writer]
// keeps them.
//
// The writer only joins runs of empty ticks: for three records of one empty tick the file has one of three. Segments are
// written when the match is over ([SealFile]): compressed second by second they would be a quarter larger, and the tail of a
// live file must be readable at once. The bytes of a segment also depend on the version of the compressor; its records do
// not.
//
// # Crashes
//
// The writer writes a batch every FlushTicks of the [WriterOptions]: the crash of a process loses no more than that.
// The [Durability] decides what the crash of a machine loses. A failed sync is never repeated, as the operating system
// may report success for data that it has dropped. The match stops instead, and also when the disk is full. After
// [Writer.WriteBehind] a disk that is full or does not answer makes no error; the caller stops the match meanwhile, and the
// crash of a process also loses the backlog. After a crash the file ends in a torn block or without an end record. A Reader returns
// everything before that, then a [*DamageError] that wraps [io.ErrUnexpectedEOF]. If valid blocks follow the damage, it
// wraps [ErrCorrupt].
package replay
